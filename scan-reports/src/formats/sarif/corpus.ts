import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['sarif'], unit: 'findings' };
