import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = { folders: ['aws_inspector2'], unit: 'findings', countsPositions: true };
