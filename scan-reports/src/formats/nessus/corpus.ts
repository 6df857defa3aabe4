import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['tenable'], unit: 'raw_items' };
