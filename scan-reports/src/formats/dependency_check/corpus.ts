import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['dependency_check'], unit: 'raw_items' };
