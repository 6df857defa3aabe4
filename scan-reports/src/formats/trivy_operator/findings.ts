import type { Cvss, Observation } from '../../contract.ts';
import { ecosystemOf } from '../../shared/ecosystem.ts';
import { filePath, observation, RecordError, required, severityOf } from '../../shared/normalize.ts';
import { ratingOf } from '../../shared/ratings.ts';
import { type Obj, obj, str, strs } from '../../shared/read.ts';
import { artifactAsset, clusterLocation, type Resource, workloadAsset } from './resource.ts';

export function vulnerabilityOf(entry: Obj, place: string, resource: Resource): Observation {
  const id = required(str(entry.vulnerabilityID), 'vulnerabilityID');
  const component = required(str(entry.resource), 'resource');
  const ratings = cvssOf(obj(entry.cvss));
  return observation({
    place,
    tool: resource.scanner ?? 'trivy',
    rule: id,
    title: str(entry.title) ?? `${id} in ${component}`,
    description: str(entry.description),
    severity: severityOf(str(entry.severity)),
    tool_severity: str(entry.severity),
    vulnerability_ids: [id],
    cvss: ratings.length > 0 ? ratings : ratingOf(undefined, entry.score),
    references: [...strs(entry.primaryLink), ...strs(entry.links)],
    asset: artifactAsset(resource),
    location: {
      component,
      version: str(entry.installedVersion),
      fixed_version: str(entry.fixedVersion),
      purl: str(entry.packagePURL),
      ecosystem: str(entry.packagePURL) === undefined ? ecosystemOf(str(entry.packageType)) : undefined,
      path: filePath(str(entry.packagePath) ?? (str(entry.class) === 'lang-pkgs' ? str(entry.target) : undefined)),
      resource: clusterLocation(resource),
    },
    last_seen: resource.updated ?? null,
    tags: strs(entry.packageType),
  });
}

function cvssOf(sources: Obj): Cvss[] {
  return Object.values(sources)
    .map(obj)
    .flatMap(({ V40Vector, V40Score, V3Vector, V3Score, V2Vector, V2Score }) => [
      ...ratingOf(V40Vector, V40Score, '4.0'),
      ...ratingOf(V3Vector, V3Score, '3.1'),
      ...ratingOf(V2Vector, V2Score, '2.0'),
    ]);
}

/** A check of a ConfigAuditReport, RbacAssessmentReport or InfraAssessmentReport, or of their cluster-wide variants. */
export function checkOf(entry: Obj, place: string, resource: Resource): Observation | null {
  if (entry.success === true) return null;
  const rule = str(entry.checkID) ?? str(entry.title);
  const scope = obj(entry.scope);
  return observation({
    place,
    tool: resource.scanner ?? 'trivy',
    rule: required(rule, 'checkID'),
    title: str(entry.title) ?? `Check ${rule}`,
    description: [str(entry.description), ...strs(entry.messages)].filter(Boolean).join('\n\n'),
    solution: str(entry.remediation),
    severity: severityOf(str(entry.severity)),
    tool_severity: str(entry.severity),
    asset: workloadAsset(resource),
    location: { resource: [resource.workload, str(scope.type), str(scope.value)].filter(Boolean).join(' ') },
    last_seen: resource.updated ?? null,
    tags: [...strs(entry.category), ...strs(resource.kind)],
  });
}

/** `match` is not read. Trivy masks only the part of the line that the rule covers, so the rest may contain secrets. */
export function secretOf(entry: Obj, place: string, resource: Resource): Observation {
  const rule = required(str(entry.ruleID), 'ruleID');
  const path = filePath(str(entry.target));
  if (path === undefined) throw new RecordError('target is missing');
  return observation({
    place,
    tool: resource.scanner ?? 'trivy',
    rule,
    title: str(entry.title) ?? `Secret ${rule}`,
    severity: severityOf(str(entry.severity)),
    tool_severity: str(entry.severity),
    cwes: [798],
    asset: artifactAsset(resource),
    location: { path, resource: clusterLocation(resource) },
    last_seen: resource.updated ?? null,
    tags: ['secret', ...strs(entry.category)],
  });
}
