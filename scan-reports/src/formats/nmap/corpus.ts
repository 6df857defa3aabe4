import type { CorpusFacts } from '../../testing/corpus-facts.ts';

const reason =
  'raw_items counts the open ports only; the weaknesses that the script vulners lists on them come on top (in these files that is the number of the peer, too)';

export const corpus: CorpusFacts = {
  folders: ['nmap'],
  unit: 'raw_items',
  exceptions: { 'nmap/issue4406.xml': { count: 67, reason }, 'nmap/nmap_script_vulners.xml': { count: 3, reason } },
};
