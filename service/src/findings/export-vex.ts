import { newId } from '../shared/ids.ts';
import { type ExportContext, type ExportedAsset, type ExportedFinding, jsonItems, type Pages } from './export.ts';

/** Two ways to say what a vulnerability means here: CycloneDX 1.6 and OpenVEX 0.2.0. Neither is ever told that something is fixed before it is proven. */
const idOf = ({ vulnerability_ids, weakness }: ExportedFinding): string => vulnerability_ids[0] ?? weakness;

export async function* writeCycloneDx(pages: Pages, { started, assets }: ExportContext): AsyncGenerator<string> {
  const metadata = { timestamp: started.toISOString(), tools: { components: [{ type: 'application', name: 'Remediation Risk Service' }] } };
  yield `{"$schema":"http://cyclonedx.org/schema/bom-1.6.schema.json","bomFormat":"CycloneDX","specVersion":"1.6","serialNumber":"urn:uuid:${newId()}","version":1,"metadata":${JSON.stringify(metadata)},"vulnerabilities":[`;
  yield* jsonItems(pages, vulnerabilityOf);
  yield '],"components":[';
  yield* jsonItems(assets(), componentOf);
  yield ']}\n';
}

const componentTypes: Readonly<Record<string, string>> = {
  host: 'device',
  container_image: 'container',
  repository: 'application',
  package: 'library',
  web_application: 'application',
  cloud_resource: 'platform',
  other: 'application',
};

function componentOf({ id, type, name }: ExportedAsset) {
  return { 'bom-ref': id, type: componentTypes[type] ?? 'application', name, ...(name.startsWith('pkg:') ? { purl: name } : {}) };
}

const methods: Readonly<Record<string, string>> = { '2.0': 'CVSSv2', '3.0': 'CVSSv3', '3.1': 'CVSSv31', '4.0': 'CVSSv4' };

function vulnerabilityOf(finding: ExportedFinding) {
  const { id, title, severity, cvss, cwes, description, solution, location, asset, vulnerability_ids } = finding;
  const others = vulnerability_ids.slice(1);
  const details = { component: location.component, version: location.version, fixed_version: location.fixed_version, purl: location.purl, path: location.path };
  return {
    'bom-ref': id,
    id: idOf(finding),
    ...(others.length === 0 ? {} : { references: others.map((other) => ({ id: other, source: { name: sourceOf(other) } })) }),
    ratings: [{ severity, ...(cvss ? { score: cvss.score, method: methods[cvss.version] ?? 'other', vector: cvss.vector } : {}) }],
    ...(cwes.length === 0 ? {} : { cwes }),
    description: title,
    ...(description === null ? {} : { detail: description }),
    ...(solution === null ? {} : { recommendation: solution }),
    created: finding.first_seen,
    updated: finding.updated_at,
    analysis: analysisOf(finding),
    affects: [{ ref: asset.id }],
    properties: [['status', finding.status], ['risk_score', String(finding.risk_score)], ...Object.entries(details).filter(([, value]) => value !== null)].map(
      ([name, value]) => ({ name: `rrs:${name}`, value }),
    ),
  };
}

function sourceOf(id: string): string {
  if (id.startsWith('CVE-')) return 'NVD';
  return id.startsWith('GHSA-') ? 'GitHub Advisories' : 'unknown';
}

function analysisOf({ status, status_reason, justification, first_seen, status_changed_at }: ExportedFinding) {
  const said = { ...(status_reason === null ? {} : { detail: status_reason }), firstIssued: first_seen, lastUpdated: status_changed_at };
  switch (status) {
    case 'in_progress':
    case 'remediated':
      return { state: 'exploitable', response: ['update'], ...said };
    case 'risk_accepted':
      return { state: 'exploitable', response: ['will_not_fix'], ...said };
    case 'verified':
      return { state: 'resolved', ...said };
    case 'false_positive':
      // Ours, not CycloneDX's: the finding is wrong rather than harmless.
      return justification === 'inaccurate_finding' ? { state: 'false_positive', ...said } : { state: 'not_affected', justification, ...said };
    default:
      return { state: 'in_triage', ...said };
  }
}

export async function* writeOpenVex(pages: Pages, { organization, started }: ExportContext): AsyncGenerator<string> {
  const head = {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': `urn:uuid:${newId()}`,
    author: organization,
    timestamp: started.toISOString(),
    version: 1,
    tooling: 'Remediation Risk Service',
  };
  yield `${JSON.stringify(head).slice(0, -1)},"statements":[`;
  yield* jsonItems(pages, statementOf);
  yield ']}\n';
}

function statementOf(finding: ExportedFinding) {
  const { id, title, asset, location, vulnerability_ids, status_changed_at, status_reason, status } = finding;
  const aliases = vulnerability_ids.slice(1);
  const product = {
    '@id': `urn:uuid:${asset.id}`,
    ...(asset.name.startsWith('pkg:') ? { identifiers: { purl: asset.name } } : {}),
    ...(location.purl === null ? {} : { subcomponents: [{ identifiers: { purl: location.purl } }] }),
  };
  return {
    '@id': `urn:uuid:${id}`,
    vulnerability: { name: idOf(finding), description: title, ...(aliases.length === 0 ? {} : { aliases: [...new Set(aliases)] }) },
    products: [product],
    timestamp: status_changed_at,
    ...(status_reason === null ? {} : { status_notes: `${status}: ${status_reason}` }),
    ...statusOf(finding),
  };
}

/** Of the justifications those that mean the same in both vocabularies; the others are said in words. */
const justifications: Readonly<Record<string, string>> = {
  code_not_present: 'vulnerable_code_not_present',
  code_not_reachable: 'vulnerable_code_not_in_execute_path',
  protected_by_compiler: 'inline_mitigations_already_exist',
  protected_at_runtime: 'inline_mitigations_already_exist',
  protected_at_perimeter: 'inline_mitigations_already_exist',
  protected_by_mitigating_control: 'inline_mitigations_already_exist',
};

function statusOf({ status, status_reason, justification, solution, location }: ExportedFinding) {
  const action = solution ?? (location.fixed_version === null ? 'Remediation is under way.' : `Update to ${location.fixed_version}.`);
  switch (status) {
    case 'in_progress':
    case 'remediated':
      return { status: 'affected', action_statement: action };
    case 'risk_accepted':
      return { status: 'affected', action_statement: `The risk is accepted: ${status_reason ?? ''}` };
    case 'verified':
      return { status: 'fixed' };
    case 'false_positive': {
      const known = justifications[justification ?? ''];
      return {
        status: 'not_affected',
        ...(known === undefined ? {} : { justification: known }),
        impact_statement: status_reason ?? justification ?? 'not affected',
      };
    }
    default:
      return { status: 'under_investigation' };
  }
}
