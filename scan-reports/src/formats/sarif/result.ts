import type { Analysis, Observation, Severity } from '../../contract.ts';
import { cwesOf, idsIn, observation, RecordError, severityOfScore, urlPlace } from '../../shared/normalize.ts';
import { ratingOf } from '../../shared/ratings.ts';
import { arr, date, MAX_STRING, num, type Obj, obj, str, strs } from '../../shared/read.ts';
import { artifactLocation, assetOfLocation, locationOf, type PartialLocation } from './location.ts';
import { isSnykId, packageOf, snykPackage } from './package.ts';
import { cwesOfTaxa, type Found, findRule, type Rule, type Run } from './run.ts';
import { toolOf } from './tool.ts';

/** A result with several locations becomes one observation per location, because all must be changed (section 3.27.12). */
export function observationsOf(result: Obj, place: string, run: Run): Observation[] {
  if (Object.keys(result).length === 0) throw new RecordError('the result is not an object');
  const kind = str(result.kind) ?? 'fail';
  if (kind === 'pass' || kind === 'notApplicable' || kind === 'informational') return [];
  const reference = { id: result.ruleId, index: result.ruleIndex, ...obj(result.rule) };
  const found = findRule(reference, run);
  const rule = found?.rule;
  const message = messageOf(obj(result.message), found, run);
  const ruleId = str(result.ruleId) ?? str(obj(result.rule).id) ?? rule?.id;
  if (ruleId === undefined && message === undefined) throw new RecordError('the result has neither a rule nor a message');
  const tool = toolOf(run.driver.name ?? 'sarif');
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
    // The same for all results of one issue in all scans (section 3.27.4), so it cannot distinguish several locations.
    external_id: locations.length <= 1 ? str(result.correlationGuid) : undefined,
    title: rule?.short ?? rule?.name ?? (secret ? ruleId : undefined) ?? firstLine(message) ?? ruleId ?? 'Result',
    description: secret ? null : [message, rule?.full].filter(Boolean).join('\n\n'),
    solution: secret ? null : rule?.help,
    severity: score === undefined ? severityOfLevel(level) : severityOfScore(score),
    tool_severity: score === undefined ? level : String(score),
    vulnerability_ids: vulnerabilityIdsOf({ ruleId, rule, tags, properties: own, message }),
    cwes: cwesOf(
      tags.filter((tag) => /cwe/i.test(tag)),
      strs(rule?.properties.cwe),
      strs(own.cwe),
      cwesOfTaxa([...(rule?.targets ?? []), ...arr(result.taxa).map(obj)], run),
      /^cwe[-_]?\d+$/i.test(ruleId ?? '') ? ruleId : [],
    ),
    references: [rule?.helpUri ?? [], strs(result.hostedViewerUri)].flat(),
    suppressed: isSuppressed(result),
    analysis: secret ? undefined : analysisOf(result),
    present: str(result.baselineState) !== 'absent',
    first_seen: date(provenance.firstDetectionTimeUtc),
    last_seen: date(provenance.lastDetectionTimeUtc) ?? invocation?.ended,
    tags: tags.filter((tag) => !/cwe/i.test(tag)),
  };
  return (locations.length === 0 ? [null] : locations).map((location, index, all) => {
    const where = { ...resultLocation(result, run), ...(location ? locationOf(location, run) : {}) };
    if (secret) where.snippet = undefined;
    const component = isSnykId(ruleId) ? snykPackage(where.resource) : packageOf(tool, message, rule);
    return observation({
      ...common,
      asset: run.asset ?? assetOfLocation(where),
      // Package scanners write the CVSS score. For other tools, the score is only a rank.
      cvss: component.component === undefined ? [] : ratingOf(undefined, score),
      location: { ...where, ...component, fingerprint: fingerprintOf(result, index, all.length) },
    });
  });
}

/** Location information outside `locations`: the web request, or the analyzed file. */
function resultLocation(result: Obj, run: Run): PartialLocation {
  const { target, method } = obj(result.webRequest);
  if (/^https?:\/\//i.test(str(target) ?? '')) return { url: urlPlace(str(target)), method: str(method) };
  return arr(result.locations).length === 0 ? artifactLocation(obj(result.analysisTarget), run) : {};
}

/** Section 3.11.7: the text of the message, otherwise the rule's message with that id, otherwise the tool's. */
function messageOf(message: Obj, found: Found | null, run: Run): string | undefined {
  const id = str(message.id) ?? '';
  const named = obj(found?.rule.messages[id] ?? (found?.component ?? run.driver).messages[id]);
  const template = str(message.text) ?? str(named.text) ?? str(message.markdown) ?? str(named.markdown);
  const values = arr(message.arguments);
  const filled = values.length === 0 ? template : template && filledIn(template, values);
  // Links to numbered locations are meaningless outside the file (section 3.11.6).
  return filled?.replaceAll(/\[((?:[^[\]\\]|\\.)*)\]\(\d+\)/g, (_, text: string) => text.replaceAll(/\\(.)/g, '$1'));
}

/** Stops at the length that is kept, because each of many placeholders may stand for a long text. */
function filledIn(template: string, values: readonly unknown[]): string {
  let text = '';
  let from = 0;
  for (const { 0: whole, 1: index, index: at } of template.matchAll(/\{\{|\}\}|\{(\d+)\}/g)) {
    text += template.slice(from, at) + (index === undefined ? whole.charAt(0) : (str(values[Number(index)]) ?? whole));
    from = at + whole.length;
    if (text.length > MAX_STRING) return text.slice(0, MAX_STRING);
  }
  return text + template.slice(from);
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
  const override = rule ? overrides.find(({ descriptor, level }) => level !== undefined && findRule(descriptor, run)?.rule === rule) : undefined;
  return override?.level ?? rule?.level ?? 'warning';
}

function severityOfLevel(level: string): Severity {
  if (level === 'error') return 'high';
  return level === 'warning' ? 'medium' : 'info';
}

/** Section 3.35.3: a suppression that is under review or rejected does not count. */
function isSuppressed(result: Obj): boolean {
  const statuses = arr(result.suppressions).map((suppression) => str(obj(suppression).status) ?? 'accepted');
  return statuses.length > 0 && statuses.every((status) => status === 'accepted');
}

function analysisOf(result: Obj): Analysis | undefined {
  const detail = arr(result.suppressions).flatMap((suppression) => str(obj(suppression).justification) ?? [])[0];
  return detail === undefined ? undefined : { detail };
}

interface IdSources {
  ruleId: string | undefined;
  rule: Rule | undefined;
  tags: string[];
  properties: Obj;
  message: string | undefined;
}

/** Prefers ids in fields that identify the weakness. An id from a text counts only if the text mentions exactly one. */
function vulnerabilityIdsOf({ ruleId, rule, tags, properties, message }: IdSources): string[] {
  const named = idsIn(ruleId, rule?.name, ...(rule?.deprecatedIds ?? []), ...tags, ...strs(rule?.properties.cve), ...strs(properties.cve));
  const snyk = isSnykId(ruleId) ? [ruleId] : [];
  if (named.length > 0) return [...named, ...snyk];
  const mentioned = idsIn(rule?.short, rule?.full, message);
  return [...(mentioned.length === 1 ? mentioned : []), ...snyk];
}

/** Texts of these results may contain the secret, so they are not stored. */
function isAboutSecrets(tool: string, tags: readonly string[]): boolean {
  return /gitleaks|trufflehog|detect-secrets|ggshield|gitguardian|whispers|talisman/.test(tool) || tags.some((tag) => /^secrets?$/i.test(tag));
}

/** Prefers fingerprints over partial fingerprints. Skips hashes of the whole file, which change with every edit. */
function fingerprintOf(result: Obj, index: number, locationCount: number): string | undefined {
  const entriesOf = (value: unknown): [string, string][] =>
    Object.entries(obj(value))
      .flatMap(([name, mark]): [string, string][] => (str(mark) && !/requires login/i.test(String(mark)) ? [[name, String(mark)]] : []))
      .sort(([a], [b]) => (a < b ? -1 : 1));
  const partial = entriesOf(result.partialFingerprints);
  // GitHub matches alerts by this fingerprint, so tools write it for that purpose.
  const line = partial.find(([name]) => /^primaryLocationLineHash\b/.test(name));
  const otherParts = partial.filter(([name]) => !/file.?hash/i.test(name));
  const [whole] = entriesOf(result.fingerprints);
  const chosen = whole ? [whole] : line ? [line] : otherParts;
  if (chosen.length === 0) return undefined;
  const text = chosen.map(([name, value]) => `${name}:${value}`).join(' ');
  return locationCount === 1 ? text : `${text} ${index}`;
}
