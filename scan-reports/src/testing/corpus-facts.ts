import type { RunFact } from '../contract.ts';

/** Expected results of a format for the corpus of real reports, which is optional and lies next to the checkout. */
export interface CorpusFacts {
  /** Folders of the corpus with reports of this format. */
  folders: readonly string[];
  /** What the number of observations must equal: the findings of the reference parser, or the records of the file if that parser merges them. */
  unit: 'findings' | 'raw_items';
  /** True if a record with several locations becomes several observations. The test then counts positions instead of observations. */
  countsPositions?: boolean;
  /** Files with another correct number of observations, and the reason. */
  exceptions?: Readonly<Record<string, { count: number; reason: string }>>;
  /** Files that the format does not support and must reject as a whole, and the reason. */
  refused?: Readonly<Record<string, string>>;
  /** Files that do not state a fact although the format declares it, and the reason. */
  unstated?: readonly { fact: RunFact; files: RegExp; reason: string }[];
  /** Facts of single examples that the format reads differently on purpose. */
  differs?: readonly { field: string; reason: string; files?: readonly string[] }[];
}
