import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['aws_inspector2'], unit: 'findings' };
