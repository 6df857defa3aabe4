import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['hadolint'], unit: 'raw_items' };
