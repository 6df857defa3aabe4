import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['tenable'],
  unit: 'raw_items',
  unstated: [
    { fact: 'credentials', files: /\.csv$/, reason: 'these exports do not contain the scan information (plugin 19506)' },
    { fact: 'credentials', files: /nessus_was/, reason: 'Web App Scanning does not report whether the login worked' },
  ],
};
