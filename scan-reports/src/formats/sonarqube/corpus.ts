import type { CorpusFacts } from '../../testing/corpus-facts.ts';

const ZIP = 'An archive of several answers of the API: unpack it and import the files.';

export const corpus: CorpusFacts = {
  folders: ['sonarqube'],
  unit: 'raw_items',
  refused: { 'sonarqube/empty_zip.zip': ZIP, 'sonarqube/findings_over_api.zip': ZIP },
};
