import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['generic'],
  unit: 'raw_items',
  exceptions: {
    'generic/generic_report4.json': { count: 4, reason: 'each of the four endpoints is an asset of its own' },
  },
  refused: {
    'generic/generic_report_kev_cvssv4.csv': 'the quotes of the last cell are not closed, so the file may have been cut off',
    'generic/inline_parse_no_csv_content_no_findings.csv': 'an empty file may have been cut off',
  },
};
