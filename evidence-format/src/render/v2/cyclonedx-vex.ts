import type { Evidence } from '../../document/evidence.ts';
import type { Finding } from '../../document/finding.ts';
import { describe, dispositionOf } from './dispositions.ts';
import { mapped } from './sequences.ts';
import { standingCounts } from './words/conclusion.ts';

/** CycloneDX 1.6. */
export function cycloneDxVex({ package_id, generated_at, findings, conclusion, completeness, counts }: Evidence) {
  const assets = new Map(findings.map(({ asset }) => [asset.id, asset]));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${package_id}`,
    version: 1,
    metadata: {
      timestamp: generated_at,
      tools: { components: [{ type: 'application', name: 'Remediation Risk Service' }] },
      properties: properties({ conclusion, grade: completeness.grade, findings: counts.findings, ...standingCounts(counts) }),
    },
    vulnerabilities: mapped(findings, vulnerabilityOf),
    components: mapped(assets.values(), componentOf),
  };
}

function properties(values: Readonly<Record<string, string | number | null>>) {
  return Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [{ name: `rrs:${name}`, value: String(value) }]));
}

const componentTypes: Readonly<Record<string, string>> = { host: 'device', container_image: 'container', package: 'library', cloud_resource: 'platform' };

function componentOf({ id, type, name }: Finding['asset']) {
  const known = Object.hasOwn(componentTypes, type) ? componentTypes[type] : undefined;
  return { 'bom-ref': id, type: known ?? 'application', name, ...(name.startsWith('pkg:') ? { purl: name } : {}) };
}

const methods = new Map([
  ['2.0', 'CVSSv2'],
  ['3.0', 'CVSSv3'],
  ['3.1', 'CVSSv31'],
  ['4.0', 'CVSSv4'],
]);

function vulnerabilityOf(finding: Finding) {
  const { id, title, weakness, severity, severity_source, cvss, cwes, cves, asset, standing, state, risk_score, place } = finding;
  const { component, component_version, fixed_version, purl } = finding;
  const others = cves.slice(1);
  return {
    'bom-ref': id,
    id: cves[0] ?? weakness,
    ...(others.length === 0 ? {} : { references: others.map((other) => ({ id: other, source: { name: 'NVD' } })) }),
    ratings: [{ severity, ...(cvss === null ? {} : { score: cvss.score, method: methods.get(cvss.version) ?? 'other', vector: cvss.vector }) }],
    ...(cwes.length === 0 ? {} : { cwes }),
    description: title,
    created: finding.first_seen,
    updated: finding.state_changed_at,
    analysis: analysisOf(finding),
    affects: [{ ref: asset.id }],
    properties: properties({
      standing,
      disposition: dispositionOf(finding),
      state,
      severity_source,
      risk_score,
      component,
      version: component_version,
      fixed_version,
      purl,
      place,
    }),
  };
}

function analysisOf(finding: Finding) {
  const { cyclonedx, label } = describe(finding);
  const { state_reason, justification, first_seen, state_changed_at } = finding;
  return {
    ...stateOf(cyclonedx, justification),
    ...(cyclonedx.response === null ? {} : { response: [cyclonedx.response] }),
    detail: `${label}${state_reason === null ? '' : `: ${state_reason}`}`,
    firstIssued: first_seen,
    lastUpdated: state_changed_at,
  };
}

/** `inaccurate_finding` is not a CycloneDX justification: the finding is wrong, not harmless. */
function stateOf({ state }: { state: string }, justification: string | null) {
  if (state !== 'not_affected') return { state };
  if (justification === 'inaccurate_finding') return { state: 'false_positive' };
  return { state, ...(justification === null ? {} : { justification }) };
}
