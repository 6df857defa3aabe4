import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['npm_audit', 'npm_audit_7_plus'],
  unit: 'raw_items',
  exceptions: {
    'npm_audit_7_plus/one_vuln.json': { count: 2, reason: 'one package with two advisories: two vulnerabilities, which the peer reads as the first of them' },
  },
  differs: [
    {
      field: 'cwe',
      reason: 'the report has no CWE there; the peer puts 1035, a category, in its place',
      files: ['npm_audit/cwe_null.json', 'npm_audit_7_plus/many_vulns.json'],
    },
    {
      field: 'severity',
      reason: 'the severity of the package (its highest) beside the CWE of its first advisory; ours is that of the advisory',
      files: ['npm_audit_7_plus/one_vuln.json'],
    },
  ],
};
