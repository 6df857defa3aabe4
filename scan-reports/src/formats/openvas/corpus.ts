import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['openvas'], unit: 'raw_items' };
