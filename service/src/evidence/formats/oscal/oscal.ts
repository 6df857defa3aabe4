import { createHash } from 'node:crypto';
import type { Artifact, Finding, FindingState, Scan } from '@rrs/evidence-format';
import { uuidFromBytes, uuidToBytes } from '../../../shared/ids.ts';
import type { ReportedEvidence } from '../context.ts';

/** Parts that OSCAL 1.2.1 assessment results and plans of action share. */
const NAMESPACE = 'https://rrs.example/ns/oscal';
const NAMESPACE_ID = '5f0c6a52-7d5e-5a3c-9f3b-2f1c8a6e4d10';

/** A version 5 UUID (RFC 9562). OSCAL accepts only versions 4 and 5 and requires the same id for the same subject in every document. */
export function oscalId(kind: string, id: string): string {
  const bytes = createHash('sha1').update(uuidToBytes(NAMESPACE_ID)).update(`${kind}:${id}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuidFromBytes(bytes);
}

/** OSCAL strings are one line, without white space at either end, and not empty. */
export function line(text: string): string {
  return text.replace(/\s+/gu, ' ').trim() || '-';
}

export function props(values: Record<string, string | number | boolean | null | readonly string[]>) {
  return Object.entries(values).flatMap(([name, value]) => {
    const all = value === null ? [] : typeof value === 'object' ? value : [String(value)];
    return all.map((each) => ({ name, ns: NAMESPACE, value: line(each) }));
  });
}

/** OSCAL does not allow empty lists, so an empty list leaves out its key. */
export function list<K extends string, T>(key: K, items: readonly T[]): { [P in K]?: readonly T[] } {
  return items.length === 0 ? {} : ({ [key]: items } as { [P in K]: readonly T[] });
}

export function metadata(evidence: ReportedEvidence, title: string) {
  const { organization, package_id, work_item, sequence } = evidence;
  return {
    title: line(`${title}: ${work_item.title}`),
    'last-modified': evidence.generated_at,
    version: String(sequence),
    'oscal-version': '1.2.1',
    'document-ids': [{ identifier: package_id }],
    props: props({ 'package-id': package_id, 'work-item-id': work_item.id, 'as-of': evidence.as_of }),
    parties: [{ uuid: oscalId('organization', organization.id), type: 'organization', name: line(organization.name) }],
  };
}

export function inventory(findings: readonly Finding[]) {
  const assets = new Map(findings.map(({ asset }) => [asset.id, asset]));
  return assets.values().map(({ id, type, name }) => ({
    uuid: oscalId('asset', id),
    description: line(name),
    props: props({ 'asset-id': id, 'asset-type': type }),
  }));
}

type Scans = ReadonlyMap<string, Scan>;

const byId = (scans: readonly Scan[]): Scans => new Map(scans.map((scan) => [scan.id, scan]));

export function observations({ findings, scans }: ReportedEvidence) {
  const known = byId(scans);
  return findings.values().flatMap((finding) => [observationBefore(finding, known), ...observationAfter(finding, known)]);
}

function observationBefore(finding: Finding, scans: Scans) {
  const scan = scans.get(finding.before.scan ?? '');
  return {
    ...observation(finding, 'before', scan),
    title: 'Before the fix',
    description:
      scan === undefined ? 'No scan report in this package shows the finding before the fix.' : `A scan with ${line(scan.tool)} reported the finding.`,
    collected: scan?.finished_at ?? scan?.received_at ?? finding.first_seen,
  };
}

function observationAfter(finding: Finding, scans: Scans) {
  const scan = scanAfter(finding, scans);
  if (scan === undefined) return [];
  const outcome = finding.after.state === 'absent' ? 'covered its location and did not report the finding' : 'still reported the finding';
  return [
    {
      ...observation(finding, 'after', scan),
      title: 'After the fix',
      description: `A scan with ${line(scan.tool)} ${outcome}.`,
      collected: scan.finished_at ?? scan.received_at,
    },
  ];
}

function scanAfter({ after }: Finding, scans: Scans): Scan | undefined {
  return after.state === 'unknown' ? undefined : scans.get(after.scan ?? '');
}

function observation({ id, asset }: Finding, phase: 'before' | 'after', scan: Scan | undefined) {
  return {
    uuid: oscalId(`observation-${phase}`, id),
    methods: [scan === undefined ? 'EXAMINE' : 'TEST'],
    types: ['finding'],
    subjects: [{ 'subject-uuid': oscalId('asset', asset.id), type: 'inventory-item', title: line(asset.name) }],
    ...(scan === undefined ? {} : { 'relevant-evidence': [{ href: `#${oscalId('scan', scan.id)}`, description: `Report of scan ${scan.id}.` }] }),
  };
}

export function relatedObservations({ scans }: ReportedEvidence): (finding: Finding) => { 'observation-uuid': string }[] {
  const known = byId(scans);
  return (finding) => {
    const phases = scanAfter(finding, known) === undefined ? ['before'] : ['before', 'after'];
    return phases.map((phase) => ({ 'observation-uuid': oscalId(`observation-${phase}`, finding.id) }));
  };
}

/** A withdrawn finding is no longer tracked, which is not the same as fixed. The risk log entry tells the two apart. */
const riskStatuses: Readonly<Record<FindingState, string>> = {
  open: 'open',
  in_progress: 'remediating',
  remediated: 'remediating',
  verified: 'closed',
  risk_accepted: 'deviation-approved',
  false_positive: 'deviation-approved',
  withdrawn: 'closed',
};

export function risks(evidence: ReportedEvidence) {
  const related = relatedObservations(evidence);
  const actor = { type: 'party', 'actor-uuid': oscalId('organization', evidence.organization.id) };
  return evidence.findings.values().map((finding) => ({
    uuid: oscalId('risk', finding.id),
    title: line(finding.title),
    description: `${line(finding.weakness)} on ${line(finding.asset.name)}${finding.component === null ? '' : ` in ${line(finding.component)}`}.`,
    statement: `Severity ${finding.severity}, risk score ${finding.risk_score} of 100.`,
    props: props({ 'finding-id': finding.id, state: finding.state, assurance: finding.assurance, cve: finding.cves, 'within-sla': finding.within_sla }),
    status: riskStatuses[finding.state],
    characterizations: [{ origin: { actors: [actor] }, facets: facets(finding) }],
    ...(finding.due_at === null ? {} : { deadline: finding.due_at }),
    ...list('remediations', remediations(finding)),
    'risk-log': { entries: [logEntry(finding)] },
    'related-observations': related(finding),
  }));
}

function facets({ severity, risk_score, cvss }: Finding) {
  const own = { severity, 'risk-score': risk_score };
  return [
    ...Object.entries(own).map(([name, value]) => ({ name, system: NAMESPACE, value: String(value) })),
    ...(cvss === null ? [] : [{ name: 'cvss-vector', system: `http://www.first.org/cvss/v${line(cvss.version)}`, value: line(cvss.vector) }]),
  ];
}

function remediations({ id, state, fixed_version, component }: Finding) {
  if (state === 'risk_accepted' || state === 'false_positive' || state === 'withdrawn') return [];
  const lifecycle = state === 'verified' ? 'completed' : state === 'open' ? 'recommendation' : 'planned';
  const title = fixed_version === null ? 'Fix the weakness' : `Update ${component ?? 'the component'} to ${fixed_version}`;
  return [{ uuid: oscalId('remediation', id), lifecycle, title: line(title), description: line(title) }];
}

function logEntry(finding: Finding) {
  const { id, state, state_reason, state_changed_at, state_changed_by, justification, acceptance } = finding;
  return {
    uuid: oscalId('risk-log', `${id}:${state_changed_at}`),
    title: `Status changed to ${state}`,
    description: state_reason ?? '',
    start: state_changed_at,
    'status-change': riskStatuses[state],
    ...list(
      'props',
      props({ by: state_changed_by, justification, 'acceptance-owner': acceptance?.owner ?? null, 'acceptance-expires': acceptance?.expires_at ?? null }),
    ),
  };
}

/** Valid http and https URLs (RFC 3986). Other URLs appear only as a property, because a link could run code. */
const WEB_URL = /^https?:\/\/[\w.-]+(?::\d+)?(?:[/?](?:[\w\-.~:@!$&'()*+,;=/?]|%[\da-f]{2})*)?(?:#(?:[\w\-.~:@!$&'()*+,;=/?]|%[\da-f]{2})*)?$/i;

/** Scan reports and artifacts, with paths relative to data/formats/. */
export function resources({ scans, artifacts }: ReportedEvidence) {
  return [
    ...scans.map((scan) => ({
      uuid: oscalId('scan', scan.id),
      title: line(`Scan report from ${scan.tool}`),
      description: scan.file === null ? 'The report is no longer stored.' : `The report as received, from ${scan.phase} the fix.`,
      props: props({ 'scan-id': scan.id, filename: scan.filename, 'received-at': scan.received_at }),
      ...list('rlinks', links(scan.file, scan.sha256, null)),
    })),
    ...artifacts.map((artifact) => ({
      uuid: oscalId('artifact', artifact.id),
      title: line(artifact.title),
      description: artifactDescription(artifact),
      props: props({
        'artifact-id': artifact.id,
        'artifact-type': artifact.type,
        filename: artifact.filename,
        url: artifact.url,
        'added-at': artifact.added_at,
      }),
      ...list('rlinks', links(artifact.file, artifact.sha256, artifact.url)),
    })),
  ];
}

function artifactDescription({ removed, file, description }: Artifact): string {
  if (removed !== null) return `Removed: ${line(removed.reason)}`;
  return file === null ? 'A link whose content was not captured.' : (description ?? 'The content as received.');
}

function links(file: string | null, sha256: string | null, url: string | null) {
  const hashes = sha256 === null ? {} : { hashes: [{ algorithm: 'SHA-256', value: sha256 }] };
  if (file !== null) return [{ href: file.replace(/^data\//, '../'), ...hashes }];
  return url !== null && WEB_URL.test(url) ? [{ href: url }] : [];
}
