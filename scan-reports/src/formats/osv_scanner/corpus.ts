import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['osv_scanner'], unit: 'findings' };
