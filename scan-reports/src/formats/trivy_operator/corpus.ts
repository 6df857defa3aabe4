import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['trivy_operator'], unit: 'findings' };
