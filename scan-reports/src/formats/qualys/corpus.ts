import type { CorpusFacts } from '../../testing/corpus-facts.ts';

const reason = 'raw_items also counts three summary counters, which have the element names of records; the reference parser returns this number too';

export const corpus: CorpusFacts = {
  folders: ['qualys', 'qualys_hacker_guardian', 'qualys_infrascan_webgui', 'qualys_vmdr', 'qualys_webapp'],
  unit: 'raw_items',
  exceptions: {
    'qualys_webapp/discussion_10239.xml': { count: 1, reason },
    'qualys_webapp/qualys_webapp_one_vuln.xml': { count: 14, reason },
  },
};
