import {
  type Analysis,
  type Asset,
  assetTypes,
  type Cvss,
  type Epss,
  exploitMaturities,
  fixStates,
  type Location,
  type Observation,
  severities,
} from '../contract.ts';
import { cwesOf, observation, required } from './normalize.ts';
import { arr, count, date, dayOf, num, type Obj, obj, str, strs } from './read.ts';

/** The name under which the service writes its exports. */
export const EXPORTER = 'remediation risk service';

/**
 * Converts a finding that the service exported, in the shape of its NDJSON export. It is recognized as the same finding again, because it has the weakness,
 * the asset and the location of the original. Verified and withdrawn findings are not present, so they are not created or reopened.
 */
export function exportedObservations(finding: Obj, place: string): Observation[] {
  const whole = exportedObservation(finding, place);
  const present = arr(finding.occurrences)
    .map(obj)
    .filter(({ state }) => str(state) === 'present');
  const places = [...new Map(present.map((occurrence) => [str(occurrence.place), locationOf(obj(occurrence.location))])).values()];
  return places.length < 2 ? [whole] : places.map((location) => ({ ...whole, location: inPlace(whole.location, location) }));
}

const PLACE_FIELDS = ['path', 'line', 'end_line', 'url', 'method', 'parameter', 'port', 'protocol', 'resource', 'layer'] as const satisfies (keyof Location)[];
/** A distribution's packages that were built from one source package are places of one finding. */
const PACKAGE_FIELDS = ['component', 'purl'] as const satisfies (keyof Location)[];

/** The place, with what identifies the finding: sources of one finding can name its component in different ways. */
function inPlace(whole: Location, place: Location): Location {
  const isPackage = whole.source_package !== undefined && whole.source_package === place.source_package;
  const own = [...PLACE_FIELDS, 'version', ...(isPackage ? PACKAGE_FIELDS : [])] as const;
  const located: Partial<Record<keyof Location, string | number>> = { ...whole };
  for (const field of PLACE_FIELDS) delete located[field];
  for (const field of own) if (place[field] !== undefined) located[field] = place[field];
  return located as Location;
}

function exportedObservation(finding: Obj, place: string): Observation {
  const title = required(str(finding.title), 'title');
  const status = str(finding.status);
  return observation({
    place,
    ...weaknessOf(finding, title),
    external_id: str(finding.id),
    title,
    description: str(finding.description),
    solution: str(finding.solution),
    severity: severities.find((severity) => severity === str(finding.severity)) ?? 'unknown',
    cwes: cwesOf(arr(finding.cwes)),
    cvss: cvssOf(obj(finding.cvss)),
    references: strs(finding.references),
    asset: assetOf(obj(finding.asset)),
    location: locationOf(obj(finding.location)),
    present: status !== 'verified' && status !== 'withdrawn',
    suppressed: status === 'false_positive' || status === 'risk_accepted' || str(finding.suppressed) === 'true',
    first_seen: date(finding.first_seen),
    last_seen: date(finding.last_seen),
    tags: strs(finding.tags),
    epss: epssOf(obj(finding.epss)),
    known_exploited: str(obj(finding.kev).listed) === 'true',
    exploit_maturity: exploitMaturities.find((maturity) => maturity === str(finding.exploit_maturity)),
    malicious: str(finding.malicious) === 'true',
    fix_state: fixStates.find((state) => state === str(finding.fix_state)),
    fix_published_date: dayOf(date(finding.fix_published_date)),
    analysis: analysisOf(finding, status),
  });
}

type Weakness = Pick<Observation, 'tool' | 'rule' | 'vulnerability_ids'>;

/** A weakness is a public id, several public ids that are joined with "+", or `tool:rule`. */
function weaknessOf(finding: Obj, title: string): Weakness {
  const weakness = str(finding.weakness);
  const ids = strs(finding.vulnerability_ids);
  const tool = toolOf(finding);
  if (weakness === undefined) return { tool, rule: ids.length > 0 ? null : title, vulnerability_ids: ids };
  const [, finder, rule] = /^([^:]+):(.+)$/s.exec(weakness) ?? [];
  const others = ids.filter((id) => id !== weakness);
  // Tools are in lower case, and public ids such as RHSA-2020:0111 are not.
  if (finder !== undefined && rule !== undefined && finder === finder.toLowerCase()) return { tool: finder, rule, vulnerability_ids: others };
  const known = str(finding.rule) ?? null;
  const joined = others.filter((id) => `+${weakness}+`.includes(`+${id}+`));
  if (joined.length > 1) return { tool, rule: null, vulnerability_ids: joined };
  const named = others.length < ids.length ? ids : [weakness, ...ids];
  return { tool, rule: known, vulnerability_ids: named.filter((id) => !precedes(id, weakness)) };
}

/** Whether the import would take this id for the weakness, or the two for several weaknesses. Such an id is left out. */
function precedes(id: string, weakness: string): boolean {
  if (id === weakness || rankOf(id) > rankOf(weakness)) return false;
  return rankOf(id) < 2 || id < weakness;
}

function rankOf(id: string): number {
  return id.startsWith('CVE-') ? 0 : id.startsWith('GHSA-') ? 1 : 2;
}

/** Sources are objects, or in CSV the names of the report formats. */
function toolOf({ sources }: Obj): string {
  const [first] = arr(sources);
  return (str(obj(first).tool) ?? str(obj(first).provider) ?? str(first) ?? EXPORTER).toLowerCase();
}

function cvssOf({ vector, score, version }: Obj): Cvss[] {
  const [text, number, edition] = [str(vector), num(score), str(version)];
  if (text !== undefined) return [{ vector: text, ...(number === undefined ? {} : { score: number }) }];
  return number === undefined ? [] : [{ score: number, ...(edition === undefined ? {} : { version: edition }) }];
}

function epssOf(epss: Obj): Epss | undefined {
  const [score, percentile, day] = [num(epss.score), num(epss.percentile), str(epss.date)];
  return score === undefined ? undefined : { score, ...(percentile === undefined ? {} : { percentile }), ...(day === undefined ? {} : { date: day }) };
}

/** The name is the one under which the service shows the asset. Its id tells which asset is meant if several have the name. */
function assetOf(asset: Obj): Asset | null {
  const [name, id] = [str(asset.name), str(asset.id)];
  const stated = id !== undefined && UUID.test(id) ? { id: id.toLowerCase() } : {};
  return name === undefined ? null : { type: assetTypes.find((type) => type === str(asset.type)) ?? 'other', name, stated };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const NUMBERS = ['line', 'end_line', 'port'] as const satisfies (keyof Location)[];
const TEXTS = [
  'component',
  'version',
  'fixed_version',
  'purl',
  'ecosystem',
  'source_package',
  'layer',
  'path',
  'protocol',
  'url',
  'method',
  'parameter',
  'resource',
  'fingerprint',
  'snippet',
] as const satisfies (keyof Location)[];

/** The fields of a location, as exports name them. */
export const LOCATION_FIELDS: readonly string[] = [...TEXTS, ...NUMBERS];

function locationOf(location: Obj): Location {
  const texts = TEXTS.flatMap((name) => (str(location[name]) === undefined ? [] : [[name, str(location[name])]]));
  const numbers = NUMBERS.flatMap((name) => (count(location[name]) === undefined ? [] : [[name, count(location[name])]]));
  return Object.fromEntries([...texts, ...numbers]) as Location;
}

function analysisOf({ justification, status_reason }: Obj, status: string | undefined): Analysis | undefined {
  const why = str(justification);
  const detail = str(status_reason) === undefined ? {} : { detail: str(status_reason) as string };
  if (status === 'risk_accepted') return { state: 'exploitable', response: 'will_not_fix', ...detail };
  if (status !== 'false_positive') return undefined;
  if (why === undefined || why === 'inaccurate_finding') return { state: 'false_positive', ...detail };
  return { state: 'not_affected', justification: why, ...detail };
}
