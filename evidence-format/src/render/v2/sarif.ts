import type { Evidence } from '../../document/evidence.ts';
import type { Finding } from '../../document/finding.ts';
import { describe, dispositionOf } from './dispositions.ts';
import { mapped } from './sequences.ts';
import { standingCounts } from './words/conclusion.ts';

/** SARIF 2.1.0. The baseline is what the scans before the fix reported. */
export function sarif({ findings, package_id, as_of, conclusion, completeness, counts }: Evidence) {
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'Remediation Risk Service' } },
        automationDetails: { id: `remediation-evidence/${package_id}` },
        properties: { as_of, conclusion, grade: completeness.grade, findings: counts.findings, by_standing: standingCounts(counts) },
        results: mapped(findings, resultOf),
      },
    ],
  };
}

const levels = { critical: 'error', high: 'error', medium: 'warning', low: 'note', info: 'note', unknown: 'warning' } as const;

function resultOf(finding: Finding) {
  const { id, title, severity, asset, component, cves, weakness, after } = finding;
  const { sarif: result, standing } = describe(finding);
  return {
    ruleId: cves[0] ?? weakness,
    kind: result.kind,
    // SARIF 3.27.10: the level of a result that is not a failure is "none".
    level: result.kind === 'fail' ? levels[severity] : 'none',
    // SARIF 3.27.24: a result is absent only if a scan covered its location and did not report it.
    baselineState: standing === 'remediated' && after.state === 'absent' ? 'absent' : 'unchanged',
    message: { text: title },
    locations: [{ logicalLocations: [{ name: asset.name, fullyQualifiedName: [asset.name, ...(component === null ? [] : [component])].join('/') }] }],
    fingerprints: { 'rrs/v2': id },
    ...suppressions(finding),
    provenance: { firstDetectionTimeUtc: finding.first_seen, lastDetectionTimeUtc: finding.last_seen },
    properties: propertiesOf(finding),
  };
}

function suppressions(finding: Finding) {
  const { sarif: result, label } = describe(finding);
  if (result.suppression === null) return {};
  const justification = [label, finding.justification, finding.state_reason].filter((part) => part !== null && part !== '').join(': ');
  return { suppressions: [{ kind: 'external', status: result.suppression, justification }] };
}

function propertiesOf(finding: Finding) {
  const { id, standing, state, cause, severity, severity_source, risk_score, cves, cwes, cvss, asset } = finding;
  const { component, component_version: version, fixed_version, purl, place, before, after, closed_at, within_sla, assurance, provenance } = finding;
  return {
    id,
    standing,
    disposition: dispositionOf(finding),
    state,
    cause,
    severity,
    severity_source,
    risk_score,
    vulnerability_ids: cves,
    cwes: cwes.map((cwe) => `CWE-${cwe}`),
    cvss: cvss && { version: cvss.version, vector: cvss.vector, score: cvss.score },
    asset: { id: asset.id, type: asset.type, name: asset.name },
    component,
    version,
    fixed_version,
    purl,
    place,
    before: { state: before.state, scan: before.scan },
    after: { state: after.state, scan: after.scan, others: after.others, doubts: after.doubts },
    closed_at,
    within_sla,
    assurance,
    provenance,
    tags: [],
  };
}
