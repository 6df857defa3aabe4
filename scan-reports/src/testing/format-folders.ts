import { readdirSync } from 'node:fs';
import type { ReportFormat } from '../contract.ts';
import { formats } from '../registry.ts';
import type { CorpusFacts } from './corpus-facts.ts';

export interface FormatFolder {
  id: string;
  format: ReportFormat;
  corpus: CorpusFacts | null;
}

/** Returns every format folder in registry order. Unregistered folders come last. */
export async function formatFolders(): Promise<FormatFolder[]> {
  const names = readdirSync(new URL('../formats/', import.meta.url), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  const folders = await Promise.all(
    names.map(async (id) => {
      const module = (await import(`../formats/${id}/index.ts`)) as Record<string, ReportFormat>;
      const format = Object.values(module).find((value) => value?.id === id);
      if (!format) throw new Error(`formats/${id}/index.ts does not export a format with the id ${id}`);
      const hasCorpus = readdirSync(new URL(`../formats/${id}/`, import.meta.url)).includes('corpus.ts');
      const corpus = hasCorpus ? ((await import(`../formats/${id}/corpus.ts`)) as { corpus: CorpusFacts }).corpus : null;
      return { id, format, corpus };
    }),
  );
  const rank = ({ id }: FormatFolder): number => {
    const index = formats.findIndex((format) => format.id === id);
    return index === -1 ? formats.length : index;
  };
  return folders.sort((a, b) => rank(a) - rank(b));
}
