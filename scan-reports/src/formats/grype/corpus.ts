import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = { folders: ['anchore_grype'], unit: 'raw_items' };
