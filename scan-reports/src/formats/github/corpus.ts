import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = { folders: ['github_vulnerability', 'github_sast', 'github_secrets_detection_report'], unit: 'findings' };
