import type { CorpusFacts } from '../../testing/corpus-facts.ts';

const ZIP = 'An archive of several API responses, which must be unpacked first.';

export const corpus: CorpusFacts = {
  folders: ['sonarqube'],
  unit: 'raw_items',
  refused: { 'sonarqube/empty_zip.zip': ZIP, 'sonarqube/findings_over_api.zip': ZIP },
};
