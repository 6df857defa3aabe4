import type { Asset, Observation, ReportInput } from '../../contract.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues } from '../../json/values.ts';
import { arr, date, type Obj, obj, str, strs } from '../../shared/read.ts';
import { advisoryObservation, cvssOf, identifiersOf, urlsOf } from './advisory.ts';
import { reasonTag } from './repository.ts';

/** Paths of repositories in responses, under any alias and with or without "data", such as data.repository or data.search.nodes. */
export const REPOSITORY_PATHS = [
  '',
  '*.',
  '*.*.',
  '*.nodes.*.',
  '*.*.nodes.*.',
  '*.*.edges.*.node.',
  '*.*.*.nodes.*.',
  '*.*.*.edges.*.node.',
  '*.*.*.nodes.*.repositories.nodes.*.',
];

interface Repositories {
  of(alert: Pick<JsonValue, 'document' | 'path'>): Obj;
  assets(): Asset[];
}

/** Reads repositories in a first pass, because the name of a repository may come after its alerts. */
export async function readRepositories(input: ReportInput, pages: string): Promise<Repositories> {
  const known = new Map<string, Record<string, unknown>>();
  // `totalCount` and `pageInfo` show that a repository without alerts was asked for them.
  const names = ['url', 'nameWithOwner', 'name', 'vulnerabilityAlerts.totalCount', 'vulnerabilityAlerts.pageInfo'];
  const fields = names.flatMap((field) => REPOSITORY_PATHS.map((path) => `${pages}${path}${field}`));
  for await (const { document, path, value } of jsonValues(input, fields)) {
    const isAlerts = path.at(-2) === 'vulnerabilityAlerts';
    const key = `${document} ${path.slice(0, isAlerts ? -2 : -1).join('.')}`;
    known.set(key, { ...known.get(key), ...(isAlerts ? { hasAlerts: true } : { [String(path.at(-1))]: value }) });
  }
  return {
    of: ({ document, path }) => known.get(`${document} ${path.slice(0, path.lastIndexOf('vulnerabilityAlerts')).join('.')}`) ?? {},
    assets: () => [...known.values()].filter(({ hasAlerts }) => hasAlerts).flatMap((repository) => assetOf(repository) ?? []),
  };
}

/** https://docs.github.com/en/graphql/reference/objects#repositoryvulnerabilityalert */
export function graphqlAlert(alert: Obj, place: string, repository: Obj): Observation {
  const vulnerability = obj(alert.securityVulnerability);
  const advisory = { ...obj(alert.securityAdvisory), ...obj(vulnerability.advisory) };
  const severities = obj(advisory.cvssSeverities);
  const named = obj(vulnerability.package);
  const url = str(repository.url);
  const number = str(alert.number);
  return advisoryObservation({
    place,
    // The same URL as in the REST API, so that reports of both APIs identify the same alert.
    external_id: url && number ? `${url}/security/dependabot/${number}` : str(alert.id),
    asset: assetOf(repository),
    summary: str(advisory.summary),
    description: str(advisory.description),
    severity: str(vulnerability.severity) ?? str(advisory.severity),
    identifiers: identifiersOf(advisory.identifiers, advisory.ghsaId),
    cwes: [...arr(obj(advisory.cwes).nodes), ...arr(obj(advisory.cwes).edges).map((edge) => obj(edge).node)].map((cwe) => str(obj(cwe).cweId)),
    cvss: cvssOf(obj(severities.cvssV4), obj(severities.cvssV3), obj(advisory.cvss)),
    references: urlsOf(advisory.references),
    component: str(named.name),
    ecosystem: str(named.ecosystem),
    epss: obj(advisory.epss),
    malicious: str(advisory.classification)?.toUpperCase() === 'MALWARE',
    version: exactVersion(str(alert.vulnerableRequirements)),
    fixed: str(obj(vulnerability.firstPatchedVersion).identifier),
    path: str(alert.vulnerableManifestPath) ?? str(alert.vulnerableManifestFilename),
    state: str(alert.state) ?? stateOf(alert),
    created: date(alert.createdAt),
    tags: [...strs(named.ecosystem), ...strs(alert.dependencyScope), ...reasonTag(alert.dismissReason)].map((tag) => tag.toLowerCase()),
  });
}

function assetOf(repository: Obj): Asset | null {
  const name = str(repository.url) ?? str(repository.nameWithOwner) ?? str(repository.name);
  return name ? { type: 'repository', name } : null;
}

/** For alerts without `state`, which GitHub added later. */
function stateOf(alert: Obj): string | undefined {
  if (date(alert.fixedAt)) return 'fixed';
  return date(alert.dismissedAt) ? 'dismissed' : undefined;
}

/** "= 1.2.3" is the installed version. "^1.2" and "> 1, < 2" are only requirements. */
function exactVersion(requirements: string | undefined): string | undefined {
  return /^=\s*([^\s,<>=^~*]+)$/.exec(requirements ?? '')?.[1];
}
