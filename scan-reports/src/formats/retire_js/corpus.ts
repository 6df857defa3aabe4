import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = { folders: ['retirejs'], unit: 'raw_items' };
