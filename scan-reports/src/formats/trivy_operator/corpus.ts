import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = { folders: ['trivy_operator'], unit: 'findings' };
