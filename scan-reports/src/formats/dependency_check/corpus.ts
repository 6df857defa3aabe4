import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = { folders: ['dependency_check'], unit: 'raw_items', countsPositions: true };
