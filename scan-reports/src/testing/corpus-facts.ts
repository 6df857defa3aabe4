/** How a format of ours is held against the corpus of real reports beside the checkout (`../shared`), where it is there. */
export interface CorpusFacts {
  /** Folders of the corpus with reports of this format. */
  folders: readonly string[];
  /** What the number of observations equals: the peer's findings, or the records of the file where the peer merges them. */
  unit: 'findings' | 'raw_items';
  /** Files for which another number is right, and why. A short list. */
  exceptions?: Readonly<Record<string, { count: number; reason: string }>>;
  /** Files of a kind that we do not read, and why; they must be refused as a whole. */
  refused?: Readonly<Record<string, string>>;
  /** Facts of single examples that we read differently on purpose: field and reason. */
  differs?: readonly { field: string; reason: string; files?: readonly string[] }[];
}
