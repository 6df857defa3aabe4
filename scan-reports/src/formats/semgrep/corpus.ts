import type { CorpusFacts } from '../../corpus.ts';

export const corpus: CorpusFacts = { folders: ['semgrep', 'semgrep_pro'], unit: 'raw_items' };
