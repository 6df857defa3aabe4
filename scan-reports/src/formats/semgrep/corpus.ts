import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = { folders: ['semgrep', 'semgrep_pro'], unit: 'raw_items' };
