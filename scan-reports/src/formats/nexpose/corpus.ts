import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = { folders: ['nexpose'], unit: 'raw_items' };
