import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['prowler', 'aws_prowler', 'aws_prowler_v3plus'],
  unit: 'findings',
  exceptions: {
    'prowler/example_output_gcp.csv': { count: 3, reason: 'three failed rows; the reference parser merges two resources that fail the same check' },
    'aws_prowler/issue4450.csv': { count: 3, reason: 'three failed rows; the reference parser keeps the passed one as an inactive finding' },
    'aws_prowler_v3plus/many_vuln.ocsf.json': { count: 3, reason: 'this format keeps the muted finding as suppressed; the reference parser drops it' },
  },
  differs: [
    { field: 'cwe', reason: 'the reference parser adds CWE-1032 to every finding; the reports have no CWE' },
    { field: 'component_name', reason: 'a cloud resource is not a software component; this format keeps it as asset and location.resource' },
    { field: 'severity', reason: 'Informational means info, not low', files: ['aws_prowler/many_vuln.csv'] },
    { field: 'severity', reason: 'the example is the row that passed', files: ['aws_prowler/issue4450.csv'] },
  ],
};
