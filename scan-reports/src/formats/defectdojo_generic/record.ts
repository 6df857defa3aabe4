import type { Analysis, Cvss, FixState, Observation } from '../../contract.ts';
import { cwesOf, filePath, idsIn, observation, required, severityOf } from '../../shared/normalize.ts';
import { packageName, parsePurl } from '../../shared/purl.ts';
import { arr, count, date, num, type Obj, str, strs } from '../../shared/read.ts';
import { endpointOf } from './endpoint.ts';
import { recordOf } from './fields.ts';

/** One observation for each endpoint, because each endpoint is an asset of its own. */
export function observationsOf(given: Obj, place: string, tool: string): Observation[] {
  const own = recordOf(given);
  const title = required(str(own.title), 'title');
  const ids = idsOf(own);
  const endpoints = arr(own.endpoints).flatMap((endpoint) => endpointOf(endpoint) ?? []);
  const service = str(own.service);
  const common = {
    place,
    tool,
    rule: str(own.vulnidfromtool) ?? (ids.length > 0 ? null : title),
    // The id belongs to the whole record, so it cannot distinguish several endpoints.
    external_id: endpoints.length <= 1 ? str(own.uniqueidfromtool) : undefined,
    title,
    description: [str(own.description), labelled('Impact', own.impact), labelled('Steps to reproduce', own.stepstoreproduce)].filter(Boolean).join('\n\n'),
    solution: str(own.mitigation),
    severity: severityOf(str(own.severity)),
    tool_severity: str(own.severity),
    vulnerability_ids: ids,
    cwes: cwesOf(own.cwe, arr(own.cwes)),
    cvss: [...cvssOf(own.cvssv4, own.cvssv4score, '4.0'), ...cvssOf(own.cvssv3, own.cvssv3score, '3.1')],
    references: strs(own.references).flatMap((text) => text.split(/[\r\n]+/).flatMap((line) => str(line) ?? [])),
    present: !isTrue(own.ismitigated),
    suppressed: isSuppressed(own),
    first_seen: dateOf(own.date),
    tags: strs(own.tags).flatMap((tags) => tags.split(',').map((tag) => tag.trim())),
    epss: epssOf(own),
    known_exploited: isTrue(own.knownexploited),
    fix_state: fixStateOf(own),
    analysis: analysisOf(own),
  };
  const located = endpoints.length > 0 ? endpoints : [{ asset: service ? { type: 'other' as const, name: service } : null, location: {} }];
  return located.map(({ asset, location }) => observation({ ...common, asset, location: { ...location, ...placeInside(own) } }));
}

function placeInside(own: Obj) {
  const component = str(own.componentname);
  const purl = parsePurl(component);
  return {
    component: purl ? packageName(purl.namespace, purl.name, purl.type) : component,
    version: str(own.componentversion) ?? purl?.version,
    purl: purl ? component : undefined,
    fixed_version: str(own.fixversion),
    path: filePath(str(own.filepath) ?? str(own.sastsourcefilepath)),
    line: count(own.line) ?? count(own.sastsourceline),
    parameter: str(own.param),
  };
}

/** `cve` and the entries of `vulnerability_ids` may have several ids in one text. */
function idsOf(own: Obj): string[] {
  return [...strs(own.cve), ...strs(own.vulnerabilityids)].flatMap((text) => {
    const named = idsIn(text);
    return named.length > 0 ? named : text.split(/[\s,;]+/);
  });
}

function labelled(label: string, value: unknown): string | undefined {
  const text = str(value);
  return text === undefined ? undefined : `${label}: ${text}`;
}

function cvssOf(vector: unknown, score: unknown, version: string): Cvss[] {
  const [text, number] = [str(vector), num(score)];
  const rated = number !== undefined && number >= 0 && number <= 10 ? { score: number } : {};
  if (text !== undefined && /^CVSS:\d/i.test(text)) return [{ vector: text.split(/["\s]/, 1).join(''), ...rated }];
  return 'score' in rated ? [{ ...rated, version }] : [];
}

function epssOf(own: Obj): Observation['epss'] {
  const [score, percentile] = [num(own.epssscore), num(own.epsspercentile)];
  return score === undefined ? undefined : { score, ...(percentile === undefined ? {} : { percentile }) };
}

function fixStateOf(own: Obj): FixState | undefined {
  if (own.fixavailable === undefined) return undefined;
  return isTrue(own.fixavailable) ? 'available' : 'not_available';
}

function isTrue(value: unknown): boolean {
  return /^(?:true|yes|1)$/i.test(str(value) ?? '');
}

function isFalse(value: unknown): boolean {
  return /^(?:false|no|0)$/i.test(str(value) ?? '');
}

/** DefectDojo sets duplicates inactive. The finding that they duplicate may be active, so they count like it. */
function isSuppressed(own: Obj): boolean {
  if (isTrue(own.falsep) || isTrue(own.outofscope) || isTrue(own.riskaccepted)) return true;
  return isFalse(own.active) && !isTrue(own.duplicate) && !isTrue(own.ismitigated);
}

function analysisOf(own: Obj): Analysis | undefined {
  if (isTrue(own.falsep)) return { state: 'false_positive' };
  if (isTrue(own.riskaccepted)) return { state: 'exploitable', response: 'will_not_fix' };
  return undefined;
}

/** Dates with slashes start with the month, unless the first number cannot be one. */
function dateOf(value: unknown): Date | null {
  const [, first, second, rest] = /^(\d{1,2})\/(\d{1,2})\/(.+)$/.exec(str(value) ?? '') ?? [];
  return date(Number(first) > 12 ? `${second}/${first}/${rest}` : value);
}
