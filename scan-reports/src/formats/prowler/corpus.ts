import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['prowler', 'aws_prowler', 'aws_prowler_v3plus'],
  unit: 'findings',
  exceptions: {
    'prowler/example_output_gcp.csv': { count: 3, reason: 'three failed rows, of which the peer merges two resources that fail the same check' },
    'aws_prowler/issue4450.csv': { count: 3, reason: 'three failed rows; the peer keeps the passed one as an inactive finding' },
    'aws_prowler_v3plus/many_vuln.ocsf.json': { count: 3, reason: 'the muted finding is kept as suppressed; the peer leaves it out' },
  },
  differs: [
    { field: 'cwe', reason: 'the peer puts CWE-1032 on every finding; the reports have no CWE' },
    { field: 'component_name', reason: 'a cloud resource is no software component: it is the asset and location.resource' },
    { field: 'severity', reason: 'the word Informational is read as info, not as low', files: ['aws_prowler/many_vuln.csv'] },
    { field: 'severity', reason: 'the example is the row that passed', files: ['aws_prowler/issue4450.csv'] },
  ],
};
