import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['retirejs'], unit: 'raw_items' };
