import type { Observation, Severity } from '../../contract.ts';
import { cwesOf, idsIn, observation, RecordError, severityOfScore, urlPlace } from '../../shared/normalize.ts';
import { arr, date, num, type Obj, obj, str, strs } from '../../shared/read.ts';
import { assetOfPlace, locationOf, placeOfArtifact } from './location.ts';
import { isSnykId, packageOf, snykPackage } from './package.ts';
import { cwesOfTaxa, type Found, findRule, type Rule, type Run } from './run.ts';

/** One weakness at several places is one observation for each of them, which all have to be changed (section 3.27.12). */
export function observationsOf(result: Obj, place: string, run: Run): Observation[] {
  if (Object.keys(result).length === 0) throw new RecordError('the result is no object');
  const kind = str(result.kind) ?? 'fail';
  if (kind === 'pass' || kind === 'notApplicable' || kind === 'informational') return [];
  const reference = { id: result.ruleId, index: result.ruleIndex, ...obj(result.rule) };
  const found = findRule(reference, run);
  const rule = found?.rule;
  const message = messageOf(obj(result.message), found, run);
  const ruleId = str(result.ruleId) ?? str(obj(result.rule).id) ?? rule?.id;
  if (ruleId === undefined && message === undefined) throw new RecordError('the result has neither a rule nor a message');
  const tool = (run.driver.name ?? 'sarif').toLowerCase();
  const own = obj(result.properties);
  const tags = [...strs(rule?.properties.tags), ...strs(own.tags)];
  const score = num(own['security-severity']) ?? num(rule?.properties['security-severity']);
  const level = levelOf(result, kind, rule, run);
  const provenance = obj(result.provenance);
  const secret = isAboutSecrets(tool, tags);
  const locations = arr(result.locations).map(obj);
  const invocation = run.invocations[num(provenance.invocationIndex) ?? 0];
  const common = {
    place,
    tool,
    rule: ruleId ?? firstLine(message),
    // The same for all results of one issue, over all scans (section 3.27.4); it cannot tell several places apart.
    external_id: locations.length <= 1 ? str(result.correlationGuid) : undefined,
    title: rule?.short ?? rule?.name ?? (secret ? ruleId : undefined) ?? firstLine(message) ?? ruleId ?? 'Result',
    description: secret ? null : [message, rule?.full].filter(Boolean).join('\n\n'),
    solution: secret ? null : rule?.help,
    severity: score === undefined ? severityOfLevel(level) : severityOfScore(score),
    tool_severity: score === undefined ? level : String(score),
    vulnerability_ids: vulnerabilityIdsOf(ruleId, rule, tags, own, message),
    cwes: cwesOf(
      tags.filter((tag) => /cwe/i.test(tag)),
      strs(rule?.properties.cwe),
      strs(own.cwe),
      cwesOfTaxa([...(rule?.targets ?? []), ...arr(result.taxa).map(obj)], run),
      /^cwe[-_]?\d+$/i.test(ruleId ?? '') ? ruleId : [],
    ),
    references: [rule?.helpUri ?? [], strs(result.hostedViewerUri)].flat(),
    suppressed: isSuppressed(result),
    present: str(result.baselineState) !== 'absent',
    first_seen: date(provenance.firstDetectionTimeUtc),
    last_seen: date(provenance.lastDetectionTimeUtc) ?? invocation?.ended,
    tags: tags.filter((tag) => !/cwe/i.test(tag)),
  };
  return (locations.length === 0 ? [null] : locations).map((location, index, all) => {
    const where = { ...placeOfResult(result, run), ...(location ? locationOf(location, run) : {}) };
    const component = isSnykId(ruleId) ? snykPackage(where.resource) : packageOf(tool, message, rule);
    return observation({
      ...common,
      asset: run.asset ?? assetOfPlace(where),
      location: { ...where, ...component, fingerprint: fingerprintOf(result, index, all.length) },
    });
  });
}

/** What stands beside the locations: the request that showed it, or the file that was looked at. */
function placeOfResult(result: Obj, run: Run) {
  const { target, method } = obj(result.webRequest);
  if (/^https?:\/\//i.test(str(target) ?? '')) return { url: urlPlace(str(target)), method: str(method) };
  return arr(result.locations).length === 0 ? placeOfArtifact(obj(result.analysisTarget), run) : {};
}

/** Section 3.11.7: the message's own text, else the rule's of that name, else the tool's. */
function messageOf(message: Obj, found: Found | null, run: Run): string | undefined {
  const id = str(message.id) ?? '';
  const named = obj(found?.rule.messages[id] ?? (found?.component ?? run.driver).messages[id]);
  const template = str(message.text) ?? str(named.text) ?? str(message.markdown) ?? str(named.markdown);
  const values = arr(message.arguments);
  const filled =
    values.length === 0
      ? template
      : template?.replaceAll(/\{\{|\}\}|\{(\d+)\}/g, (whole, index) => (index === undefined ? whole.charAt(0) : (str(values[Number(index)]) ?? whole)));
  // Links to locations by their number say nothing outside of the file (section 3.11.6).
  return filled?.replaceAll(/\[((?:[^[\]\\]|\\.)*)\]\(\d+\)/g, (_, text: string) => text.replaceAll(/\\(.)/g, '$1'));
}

function firstLine(text: string | undefined): string | undefined {
  return text?.split('\n')[0]?.slice(0, 200);
}

/** Section 3.27.10. */
function levelOf(result: Obj, kind: string, rule: Rule | undefined, run: Run): string {
  const level = str(result.level);
  if (level) return level;
  if (kind !== 'fail') return 'none';
  const overrides = run.invocations[num(obj(result.provenance).invocationIndex) ?? -1]?.overrides ?? [];
  const override = rule ? overrides.find(({ descriptor }) => findRule(descriptor, run)?.rule === rule) : undefined;
  return override?.level ?? rule?.level ?? 'warning';
}

function severityOfLevel(level: string): Severity {
  if (level === 'error') return 'high';
  return level === 'warning' ? 'medium' : 'info';
}

/** Section 3.35.3: a suppression that is under review or rejected is none. */
function isSuppressed(result: Obj): boolean {
  const statuses = arr(result.suppressions).map((suppression) => str(obj(suppression).status) ?? 'accepted');
  return statuses.length > 0 && statuses.every((status) => status === 'accepted');
}

/** Ids where they name the weakness; a text counts only when it mentions just one. */
function vulnerabilityIdsOf(ruleId: string | undefined, rule: Rule | undefined, tags: string[], own: Obj, message: string | undefined): string[] {
  const named = idsIn(ruleId, rule?.name, ...(rule?.deprecatedIds ?? []), ...tags, ...strs(rule?.properties.cve), ...strs(own.cve));
  const snyk = isSnykId(ruleId) ? [ruleId] : [];
  if (named.length > 0) return [...named, ...snyk];
  const mentioned = idsIn(rule?.short, rule?.full, message);
  return [...(mentioned.length === 1 ? mentioned : []), ...snyk];
}

/** The texts of such results may hold the secret. */
function isAboutSecrets(tool: string, tags: readonly string[]): boolean {
  return /gitleaks|trufflehog|detect-secrets|ggshield|gitguardian|whispers|talisman/.test(tool) || tags.some((tag) => /^secrets?$/i.test(tag));
}

/** Fingerprints before their parts; a mark of the whole file would not outlive the next change of it. */
function fingerprintOf(result: Obj, index: number, places: number): string | undefined {
  const marks = (of: unknown): [string, string][] =>
    Object.entries(obj(of))
      .flatMap(([name, value]): [string, string][] => (str(value) && !/requires login/i.test(String(value)) ? [[name, String(value)]] : []))
      .sort(([a], [b]) => (a < b ? -1 : 1));
  const partial = marks(result.partialFingerprints);
  // What GitHub goes by; tools put it in for that.
  const line = partial.find(([name]) => /^primaryLocationLineHash\b/.test(name));
  const ofPlace = partial.filter(([name]) => !/file.?hash/i.test(name));
  const [whole] = marks(result.fingerprints);
  const chosen = whole ? [whole] : line ? [line] : ofPlace;
  if (chosen.length === 0) return undefined;
  const text = chosen.map(([name, value]) => `${name}:${value}`).join(' ');
  return places === 1 ? text : `${text} ${index}`;
}
