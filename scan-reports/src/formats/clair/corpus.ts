import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['clair'], unit: 'raw_items' };
