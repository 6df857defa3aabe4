import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['gitlab_sast', 'gitlab_dep_scan', 'gitlab_container_scan', 'gitlab_dast', 'gitlab_secret_detection_report', 'gitlab_api_fuzzing'],
  unit: 'raw_items',
};
