import type { Asset, Observation, Severity } from '../../contract.ts';
import { cwesOf, filePath, idsIn, observation, required } from '../../shared/normalize.ts';
import { ratingOf } from '../../shared/ratings.ts';
import { arr, count, date, type Obj, obj, str, strs } from '../../shared/read.ts';

export interface Rule {
  name: string | undefined;
  text: string | undefined;
  cwes: number[];
}

export interface Context {
  asset: Asset | null;
  rules: ReadonlyMap<string, Rule>;
  seen: Date | null;
  /** Whether the report has only issues in new code. */
  isOfNewCode: boolean;
}

/** Severities of issues, of their impacts (since version 10), and of hotspots (vulnerability probability). */
const SEVERITIES: Readonly<Record<string, Severity>> = {
  BLOCKER: 'critical',
  CRITICAL: 'high',
  MAJOR: 'medium',
  MINOR: 'low',
  INFO: 'info',
  HIGH: 'high',
  MEDIUM: 'medium',
  LOW: 'low',
};

export function issueOf(issue: Obj, place: string, context: Context): Observation {
  return observationOf(issue, place, context, { key: required(str(issue.rule), 'rule'), word: str(issue.severity) ?? impactOf(issue) });
}

export function hotspotOf(hotspot: Obj, place: string, context: Context): Observation {
  const rule = required(str(hotspot.ruleKey) ?? str(obj(hotspot.rule).key) ?? str(hotspot.securityCategory), 'ruleKey');
  return observationOf({ ...hotspot, type: 'SECURITY_HOTSPOT' }, place, context, { key: rule, word: str(hotspot.vulnerabilityProbability) });
}

interface Rating {
  /** Key of the rule. */
  key: string;
  /** Severity word. */
  word: string | undefined;
}

function observationOf(issue: Obj, place: string, context: Context, { key, word }: Rating): Observation {
  const rule = context.rules.get(key);
  const project = str(issue.project) ?? str(obj(issue.project).key);
  const message = str(issue.message);
  const dependency = dependencyOf(message);
  // sonar-report writes the name of the rule, or "/" if it does not know the rule.
  const named = [str(issue.description), rule?.name].find((name) => name !== undefined && name !== '/');
  const range = obj(issue.textRange);
  const title = dependency ? `${dependency.ids[0] ?? key} in ${dependency.component}` : (named ?? message ?? key);
  return observation({
    place,
    tool: 'sonarqube',
    rule: key,
    external_id: str(issue.key),
    title,
    description: [message === title ? undefined : message, rule?.text].filter(Boolean).join('\n\n'),
    severity: SEVERITIES[word?.toUpperCase() ?? ''] ?? 'unknown',
    tool_severity: word,
    vulnerability_ids: dependency?.ids,
    cvss: ratingOf(undefined, dependency?.score),
    cwes: dependency ? dependency.cwes : (rule?.cwes ?? cwesOf(strs(issue.tags))),
    asset: project ? { type: 'repository', name: project, ...refOf(issue) } : context.asset,
    location: {
      component: dependency?.component,
      version: dependency?.version,
      path: pathOf(str(issue.component) ?? str(obj(issue.component).key), project),
      line: count(issue.line) ?? count(range.startLine),
      end_line: count(range.endLine),
    },
    ...stateOf(issue),
    first_seen: date(issue.creationDate),
    last_seen: context.seen,
    tags: [str(issue.type)?.toLowerCase() ?? [], str(issue.securityCategory) ?? [], strs(issue.tags)].flat(),
  });
}

/** Issues of a branch other than the main branch name it. Pull requests have a number. */
function refOf(issue: Obj): { ref?: string } {
  const ref = str(issue.branch) ?? (str(issue.pullRequest) ? `pr-${str(issue.pullRequest)}` : undefined);
  return ref === undefined ? {} : { ref };
}

/** Returns the severity of the security impact, otherwise of the first impact. */
function impactOf(issue: Obj): string | undefined {
  const impacts = arr(issue.impacts).map(obj);
  return str((impacts.find(({ softwareQuality }) => softwareQuality === 'SECURITY') ?? impacts[0])?.severity);
}

/** The key of a component consists of the project (in older versions also the module), ":" and the path. */
function pathOf(component: string | undefined, project: string | undefined): string | undefined {
  if (component === undefined || component === project) return undefined;
  const below = project && component.startsWith(`${project}:`) ? component.slice(project.length + 1) : component;
  return filePath(below.slice(below.lastIndexOf(':') + 1));
}

function stateOf(issue: Obj): { present: boolean; suppressed: boolean } {
  const words = [issue.status, issue.resolution, issue.issueStatus].flatMap((word) => str(word)?.toUpperCase().replaceAll('-', '_') ?? []);
  return {
    present: !words.some((word) => ['CLOSED', 'FIXED', 'REMOVED'].includes(word)),
    suppressed: words.some((word) => ['FALSE_POSITIVE', 'WONTFIX', 'ACCEPTED', 'SAFE'].includes(word)),
  };
}

interface Dependency {
  component: string;
  version: string | undefined;
  ids: string[];
  cwes: number[];
  score: string | undefined;
}

/** The Dependency-Check plug-in writes its data into the message: "Filename: lib:1.0 | Reference: CVE-… | CVSS Score: 6.4 | Category: CWE-120 | …". */
function dependencyOf(message: string | undefined): Dependency | null {
  const parts = message?.startsWith('Filename:') ? message.split(' | ') : [];
  const facts = (name: string): string[] => parts.flatMap((part) => (part.startsWith(`${name}:`) ? [part.slice(name.length + 1).trim()] : []));
  const [file] = facts('Filename');
  if (!file) return null;
  const [, component = file, version] = /^(.+):(v?\d[^:/\\]*)$/.exec(file) ?? [];
  return { component, version, ids: idsIn(...facts('Reference'), ...facts('References')), cwes: cwesOf(facts('Category')), score: facts('CVSS Score')[0] };
}
