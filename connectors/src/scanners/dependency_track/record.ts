import type { Asset, Cvss, Observation } from '@rrs/scan-reports';
import { cwesOf, observation, required, severityOf } from '@rrs/scan-reports/normalize.ts';
import { packageName, parsePurl } from '@rrs/scan-reports/purl.ts';
import { ratingOf } from '@rrs/scan-reports/ratings.ts';
import { arr, date, type Obj, obj, str, strs } from '@rrs/scan-reports/read.ts';
import { Type } from 'typebox';
import type { FindingBatch } from '../../core/contract.ts';

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));
export const Project = Type.Object({
  uuid: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  group: Text,
  version: Text,
  classifier: Text,
  purl: Text,
  active: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  lastBomImport: Type.Optional(Type.Unknown()),
  lastVulnerabilityAnalysis: Type.Optional(Type.Unknown()),
});

/** Every version of an application is a separate project, so the version is part of the name. */
export function assetOf({ uuid, name, group, version, classifier, purl }: Obj): Asset {
  const identifiers: Asset['identifiers'] = [{ kind: 'cloud_id', value: str(uuid) ?? '' }, ...strs(purl).map((value) => ({ kind: 'purl' as const, value }))];
  const full = packageName(str(group), str(name) ?? '', parsePurl(str(purl))?.type);
  if (classifier === 'CONTAINER') return { type: 'container_image', ...imageOf(full, str(version)), ...digestsOf(str(version)) };
  return { type: str(purl) ? 'package' : 'other', name: [full, ...strs(version)].join('@'), identifiers };
}

function imageOf(name: string, version: string | undefined): { name: string } {
  const isTagged = /[:@]./s.test(name.slice(name.lastIndexOf('/') + 1));
  return { name: version === undefined || isTagged ? name : `${name}${version.startsWith('sha256:') ? '@' : ':'}${version}` };
}

function digestsOf(version: string | undefined): Pick<Asset, 'identifiers'> {
  return version?.startsWith('sha256:') ? { identifiers: [{ kind: 'digest', value: version }] } : {};
}

/** Dependency-Track analyzes a project that has a bill of materials, again and again. Without one, its lack of findings means nothing. */
export function coverageOf(asset: Asset, project: Obj): Pick<FindingBatch, 'covers' | 'partiallyCovers' | 'scans'> {
  const analyzed = date(project.lastVulnerabilityAnalysis) ?? date(project.lastBomImport);
  return analyzed ? { covers: [asset], scans: [{ asset, finished_at: analyzed }] } : { partiallyCovers: [asset] };
}

/** Decisions about a component that is still present. A finding is gone only when its component is removed or changes its version. */
const SETTLED: readonly (string | undefined)[] = ['FALSE_POSITIVE', 'NOT_AFFECTED', 'RESOLVED'];

export function findingOf(finding: Obj, place: string, asset: Asset): Observation {
  const [component, vulnerability, analysis, attribution] = ['component', 'vulnerability', 'analysis', 'attribution'].map((part) => obj(finding[part])) as [
    Obj,
    Obj,
    Obj,
    Obj,
  ];
  const id = required(str(vulnerability.vulnId), 'vulnerability.vulnId');
  const purl = str(component.purl);
  const name = packageName(str(component.group), required(str(component.name), 'component.name'), parsePurl(purl)?.type);
  const state = str(analysis.state);
  return observation({
    place,
    tool: 'dependency-track',
    rule: id,
    external_id: required(str(finding.matrix), 'matrix'),
    title: str(vulnerability.title) ?? `${id} in ${name}`,
    description: [str(vulnerability.subtitle), str(vulnerability.description)].filter(Boolean).join('\n\n'),
    solution: str(vulnerability.recommendation),
    severity: severityOf(str(vulnerability.severity)),
    tool_severity: str(vulnerability.severity),
    vulnerability_ids: [id, ...aliasesOf(vulnerability)],
    cwes: cwesOf(
      arr(vulnerability.cwes).map((cwe) => obj(cwe).cweId),
      vulnerability.cweId,
    ),
    cvss: [
      ...cvssOf(vulnerability.cvssV4Vector, vulnerability.cvssV4Score, '4.0'),
      ...cvssOf(vulnerability.cvssV3Vector, vulnerability.cvssV3BaseScore, '3.1'),
      ...cvssOf(vulnerability.cvssV2Vector, vulnerability.cvssV2BaseScore, '2.0'),
    ],
    references: strs(attribution.referenceUrl),
    asset,
    location: { component: name, version: str(component.version), purl },
    present: true,
    suppressed: analysis.isSuppressed === true || SETTLED.includes(state),
    first_seen: date(attribution.attributedOn),
    tags: [str(vulnerability.source), state === 'NOT_SET' ? undefined : state].flatMap((tag) => tag?.toLowerCase() ?? []),
  });
}

function aliasesOf(vulnerability: Obj): string[] {
  return arr(vulnerability.aliases)
    .map(obj)
    .flatMap(({ cveId, ghsaId, osvId, snykId }) => strs([cveId, ghsaId, osvId, snykId]));
}

function cvssOf(vector: unknown, score: unknown, version: string): Cvss[] {
  return ratingOf(str(vector)?.replace(/^\((.*)\)$/, '$1'), score, version);
}
