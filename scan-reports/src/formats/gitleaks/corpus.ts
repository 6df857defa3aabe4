import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['gitleaks'], unit: 'raw_items' };
