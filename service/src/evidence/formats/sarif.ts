import type { Finding } from '@rrs/evidence-format';
import { resultOf, SARIF_SCHEMA, SARIF_TOOL } from '../../findings/export/sarif.ts';
import type { ReportedEvidence } from './context.ts';
import { toExportFinding } from './export-finding.ts';

/** SARIF 2.1.0. The baseline is what the scans before the fix reported. */
export function sarif({ findings, package_id, as_of }: ReportedEvidence) {
  const automationDetails = { id: `remediation-evidence/${package_id}` };
  return {
    $schema: SARIF_SCHEMA,
    version: '2.1.0',
    runs: [{ tool: SARIF_TOOL, automationDetails, properties: { as_of }, results: findings.values().map(comparedResult) }],
  };
}

function comparedResult(finding: Finding) {
  const { properties, ...result } = resultOf(toExportFinding(finding));
  const { place, before, after, closed_at, within_sla, assurance } = finding;
  return {
    ...result,
    // SARIF 3.27.24: a result is absent only if a scan covered its location and did not report it.
    baselineState: after.state === 'absent' ? 'absent' : 'unchanged',
    properties: { ...properties, place, before, after, closed_at, within_sla, assurance },
  };
}
