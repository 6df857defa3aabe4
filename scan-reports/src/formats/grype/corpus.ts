import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['anchore_grype'], unit: 'raw_items' };
