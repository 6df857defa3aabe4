import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['cyclonedx'], unit: 'findings' };
