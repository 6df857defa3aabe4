import type { CorpusFacts } from '../../testing/corpus-facts.ts';

const reason = 'raw_items counts only open ports; the weaknesses that the vulners script lists are added, as in the reference parser';

export const corpus: CorpusFacts = {
  folders: ['nmap'],
  unit: 'raw_items',
  exceptions: { 'nmap/issue4406.xml': { count: 67, reason }, 'nmap/nmap_script_vulners.xml': { count: 3, reason } },
};
