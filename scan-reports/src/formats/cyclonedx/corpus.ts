import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = { folders: ['cyclonedx'], unit: 'findings', countsPositions: true };
