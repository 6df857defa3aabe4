import type { Status } from '../status.ts';

/** What VEX documents need to know about a finding. Used by exports and evidence packages. Only verified findings are stated as fixed. */
export interface VexFinding {
  id: string;
  title: string;
  description: string | null;
  solution: string | null;
  weakness: string;
  /** The tool's id of the check. */
  rule: string | null;
  vulnerability_ids: string[];
  cwes: number[];
  severity: string;
  /** Whether all sources that still see the finding suppress it. */
  suppressed: boolean;
  cvss: { version: string | null; vector: string | null; score: number } | null;
  risk_score: number;
  asset: VexAsset;
  location: { component: string | null; version: string | null; fixed_version: string | null; purl: string | null; path: string | null };
  first_seen: string;
  updated_at: string;
  status: Status;
  status_reason: string | null;
  status_changed_at: string;
  justification: string | null;
  /** The places, if they are known one by one. */
  occurrences?: readonly VexOccurrence[];
}

export interface VexOccurrence {
  place: string;
  state: string;
  location: Readonly<Record<string, string | number>>;
}

/** One occurrence for each place that a source still sees. Sources and tracks can name the same place. */
export function presentPlaces(occurrences: readonly VexOccurrence[] = []): VexOccurrence[] {
  return [...new Map(occurrences.filter(({ state }) => state === 'present').map((occurrence) => [occurrence.place, occurrence])).values()];
}

export interface VexAsset {
  id: string;
  type: string;
  name: string;
}

export const idOf = ({ vulnerability_ids, weakness }: Pick<VexFinding, 'vulnerability_ids' | 'weakness'>): string => vulnerability_ids[0] ?? weakness;

/** A CycloneDX 1.6 document without its lists. */
export function cycloneDxHead(serial: string, timestamp: string) {
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${serial}`,
    version: 1,
    metadata: { timestamp, tools: { components: [{ type: 'application', name: 'Remediation Risk Service' }] } },
  };
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

export function componentOf({ id, type, name }: VexAsset) {
  return { 'bom-ref': id, type: componentTypes[type] ?? 'application', name, ...(name.startsWith('pkg:') ? { purl: name } : {}) };
}

const methods: Readonly<Record<string, string>> = { '2.0': 'CVSSv2', '3.0': 'CVSSv3', '3.1': 'CVSSv31', '4.0': 'CVSSv4' };

export function vulnerabilityOf(finding: VexFinding) {
  const { id, title, severity, cvss, cwes, description, solution, location, asset, vulnerability_ids } = finding;
  const others = vulnerability_ids.slice(1);
  const details = { component: location.component, version: location.version, fixed_version: location.fixed_version, purl: location.purl, path: location.path };
  return {
    'bom-ref': id,
    id: idOf(finding),
    ...(others.length === 0 ? {} : { references: others.map((other) => ({ id: other, source: { name: sourceOf(other) } })) }),
    ratings: [
      {
        severity,
        ...(cvss ? { score: cvss.score, method: methods[cvss.version ?? ''] ?? 'other', ...(cvss.vector === null ? {} : { vector: cvss.vector }) } : {}),
      },
    ],
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

function analysisOf({ status, status_reason, justification, first_seen, status_changed_at }: VexFinding) {
  const details = { ...(status_reason === null ? {} : { detail: status_reason }), firstIssued: first_seen, lastUpdated: status_changed_at };
  switch (status) {
    case 'in_progress':
    case 'remediated':
      return { state: 'exploitable', response: ['update'], ...details };
    case 'risk_accepted':
      return { state: 'exploitable', response: ['will_not_fix'], ...details };
    case 'verified':
      return { state: 'resolved', ...details };
    case 'false_positive':
      // `inaccurate_finding` is not a CycloneDX justification: the finding is wrong, not harmless.
      return justification === 'inaccurate_finding' ? { state: 'false_positive', ...details } : { state: 'not_affected', justification, ...details };
    default:
      return { state: 'in_triage', ...details };
  }
}

/** An OpenVEX 0.2.0 document without its statements. */
export function openVexHead(id: string, author: string, timestamp: string) {
  return { '@context': 'https://openvex.dev/ns/v0.2.0', '@id': `urn:uuid:${id}`, author, timestamp, version: 1, tooling: 'Remediation Risk Service' };
}

export function statementOf(finding: VexFinding) {
  const { id, title, asset, location, weakness, rule, severity, vulnerability_ids, status_changed_at, status_reason, status } = finding;
  const aliases = vulnerability_ids.slice(1);
  const details = { weakness, rule, status, severity, suppressed: finding.suppressed ? 'true' : null };
  // OpenVEX has no fields for names, severities and locations. The fragments of the ids have them, so that an import recognizes the finding.
  const product = {
    '@id': `urn:uuid:${asset.id}#${detailsOf({ type: asset.type, name: asset.name })}`,
    ...(asset.name.startsWith('pkg:') ? { identifiers: { purl: asset.name } } : {}),
    subcomponents: placesOf(finding).map((place) => ({
      '@id': `urn:uuid:${id}#${detailsOf({ ...details, ...location, ...place })}`,
      ...(location.purl === null ? {} : { identifiers: { purl: location.purl } }),
    })),
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

/** What tells the places of a finding apart. Where a finding has one place, its location says it all. */
function placesOf({ location, occurrences }: VexFinding): Record<string, string | number | null | undefined>[] {
  const places = presentPlaces(occurrences);
  if (places.length < 2) return [{}];
  const known: Readonly<Record<string, unknown>> = location;
  const without = Object.fromEntries(PLACE_FIELDS.filter((field) => known[field] !== undefined).map((field) => [field, null]));
  return places.map((place) => {
    const isPackage = known.source_package !== undefined && known.source_package === place.location.source_package;
    const own = [...PLACE_FIELDS, 'version', ...(isPackage ? ['component', 'purl'] : [])];
    return { ...without, ...Object.fromEntries(own.flatMap((field) => (place.location[field] === undefined ? [] : [[field, place.location[field]]]))) };
  });
}

const PLACE_FIELDS = ['path', 'line', 'end_line', 'url', 'method', 'parameter', 'port', 'protocol', 'resource', 'layer'];

function detailsOf(fields: Readonly<Record<string, string | number | null | undefined>>): string {
  const known = Object.entries(fields).flatMap(([name, value]): [string, string][] => (value === null || value === undefined ? [] : [[name, String(value)]]));
  return new URLSearchParams(known).toString();
}

/** Justifications that both vocabularies have. The others go into the impact statement. */
const justifications: Readonly<Record<string, string>> = {
  code_not_present: 'vulnerable_code_not_present',
  code_not_reachable: 'vulnerable_code_not_in_execute_path',
  protected_by_compiler: 'inline_mitigations_already_exist',
  protected_at_runtime: 'inline_mitigations_already_exist',
  protected_at_perimeter: 'inline_mitigations_already_exist',
  protected_by_mitigating_control: 'inline_mitigations_already_exist',
};

function statusOf({ status, status_reason, justification, solution, location }: VexFinding) {
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
