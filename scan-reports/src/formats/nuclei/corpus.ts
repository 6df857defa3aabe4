import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['nuclei'], unit: 'raw_items' };
