import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['nexpose'], unit: 'raw_items' };
