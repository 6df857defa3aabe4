import type { CorpusFacts } from '../../testing/corpus-facts.ts';

export const corpus: CorpusFacts = {
  folders: ['npm_audit', 'npm_audit_7_plus'],
  unit: 'raw_items',
  countsPositions: true,
  exceptions: {
    'npm_audit_7_plus/one_vuln.json': { count: 2, reason: 'one package with two advisories; the reference parser reads only the first' },
  },
  differs: [
    {
      field: 'cwe',
      reason: 'the report has no CWE; the reference parser writes 1035, a category, instead',
      files: ['npm_audit/cwe_null.json', 'npm_audit_7_plus/many_vulns.json'],
    },
    {
      field: 'severity',
      reason: 'the reference parser uses the highest package severity; this format uses the severity of the advisory',
      files: ['npm_audit_7_plus/one_vuln.json'],
    },
  ],
};
