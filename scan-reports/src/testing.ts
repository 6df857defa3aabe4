import { readdirSync } from 'node:fs';
import type { Observation, Rejection, ReportFormat, ReportInput } from './contract.ts';
import type { CorpusFacts } from './corpus.ts';
import { formats } from './registry.ts';

export interface FormatFolder {
  id: string;
  format: ReportFormat;
  corpus: CorpusFacts | null;
}

/** Every format folder, in the registry's order; a folder that is not registered comes last. */
export async function formatFolders(): Promise<FormatFolder[]> {
  const names = readdirSync(new URL('./formats/', import.meta.url), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  const folders = await Promise.all(
    names.map(async (id) => {
      const module = (await import(`./formats/${id}/index.ts`)) as Record<string, ReportFormat>;
      const format = Object.values(module).find((value) => value?.id === id);
      if (!format) throw new Error(`formats/${id}/index.ts exports no format with the id ${id}`);
      const facts = readdirSync(new URL(`./formats/${id}/`, import.meta.url)).includes('corpus.ts')
        ? ((await import(`./formats/${id}/corpus.ts`)) as { corpus: CorpusFacts }).corpus
        : null;
      return { id, format, corpus: facts };
    }),
  );
  const rank = ({ id }: FormatFolder): number => {
    const index = formats.findIndex((format) => format.id === id);
    return index === -1 ? formats.length : index;
  };
  return folders.sort((a, b) => rank(a) - rank(b));
}

export async function readAll(format: ReportFormat, input: ReportInput): Promise<{ observations: Observation[]; rejections: Rejection[] }> {
  const observations: Observation[] = [];
  const rejections: Rejection[] = [];
  for await (const item of format.read(input)) {
    if ('observation' in item) observations.push(item.observation);
    else rejections.push(item.rejection);
  }
  return { observations, rejections };
}

/** The same bytes, cut at these places. */
export function inChunks(bytes: Uint8Array, cuts: readonly number[], filename: string | null = null): ReportInput {
  const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].sort((a, b) => a - b);
  return {
    filename,
    async *open() {
      for (const [index, place] of places.entries()) if (index > 0) yield bytes.subarray(places[index - 1], place);
    },
  };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
