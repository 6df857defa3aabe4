import type { About, Observation, ReportInput, Severity } from '../../contract.ts';
import { jsonValues } from '../../json/values.ts';
import { startAbout } from '../../shared/about.ts';
import { ecosystemOf } from '../../shared/ecosystem.ts';
import { cwesOf, filePath, idsIn, observation, required, severityOf } from '../../shared/normalize.ts';
import { arr, count, type Obj, obj, str, strs } from '../../shared/read.ts';

/** Severity words of rules. Newer rules also use the common words. */
const LEVELS: Readonly<Record<string, Severity>> = { ERROR: 'high', WARNING: 'medium', INFO: 'low', EXPERIMENT: 'info', INVENTORY: 'info' };

const MAX_MESSAGE = 16_000;

export function resultOf(result: Obj, place: string): Observation {
  const rule = required(str(result.check_id), 'check_id');
  const path = required(str(result.path), 'path');
  const extra = obj(result.extra);
  const metadata = obj(extra.metadata);
  const cwes = cwesOf(strs(metadata.cwe));
  const validation = validationOf(extra);
  const secret = validation !== undefined || isSecret(metadata, cwes);
  const message = secret ? masked(str(extra.message), extra) : str(extra.message);
  const commit = str(obj(extra.historical_info).git_commit);
  const sca = obj(extra.sca_info);
  const dependency = obj(obj(sca.dependency_match).found_dependency);
  const component = str(dependency.package);
  const references = [...strs(metadata.references), ...strs(metadata.shortlink), ...strs(metadata.source)];
  return observation({
    place,
    tool: 'semgrep',
    rule,
    title: firstSentence(message) ?? rule,
    description: [message, commit ? `Commit ${commit}` : undefined].filter(Boolean).join('\n\n'),
    solution: secret ? undefined : str(extra.fix),
    ...severityOfResult(extra, metadata, component),
    vulnerability_ids: [
      ...strs(metadata['sca-vuln-database-identifier']),
      ...(component ? idsIn(...references.filter((reference) => /github\.com\/advisories|nvd\.nist\.gov/.test(reference))) : []),
    ],
    cwes,
    references: references.filter((reference) => /^https?:/i.test(reference)),
    location: {
      component,
      version: str(dependency.version),
      fixed_version: fixedVersions(metadata['sca-fix-versions'], component),
      ecosystem: ecosystemOf(str(dependency.ecosystem)),
      path: filePath(path),
      line: count(obj(result.start).line),
      end_line: count(obj(result.end).line),
      fingerprint: withoutLogin(str(extra.fingerprint)),
      snippet: secret ? undefined : withoutLogin(str(extra.lines)),
    },
    suppressed: extra.is_ignored === true,
    tags: [
      secret ? 'secret' : [],
      strs(metadata.category),
      strs(metadata.technology),
      strs(metadata.vulnerability_class),
      validation ?? [],
      component && typeof sca.reachable === 'boolean' ? (sca.reachable ? 'reachable' : 'unreachable') : [],
      str(dependency.transitivity) ?? [],
    ].flat(),
  });
}

/** For dependencies, the severity of the advisory is more precise than the three levels of older rules. */
function severityOfResult(extra: Obj, metadata: Obj, component: string | undefined): { severity: Severity; tool_severity: string | undefined } {
  const level = str(extra.severity);
  const mapped = LEVELS[level?.toUpperCase() ?? ''];
  const advisory = component ? str(metadata['sca-severity']) : undefined;
  if (advisory && (mapped || !level)) return { severity: severityOf(advisory), tool_severity: advisory };
  return { severity: mapped ?? severityOf(level), tool_severity: level };
}

/** Without an account, Semgrep writes "requires login" instead of a fingerprint and of the matched lines. */
function withoutLogin(text: string | undefined): string | undefined {
  return text && /^requires login/i.test(text) ? undefined : text;
}

/** Reads a list of objects that map a package to its first fixed version. */
function fixedVersions(value: unknown, component: string | undefined): string | undefined {
  const versions = arr(value).flatMap((entry) => (component ? strs(obj(entry)[component]) : []));
  return versions.length > 0 ? [...new Set(versions)].join(', ') : undefined;
}

/** Only secret rules have a validation state. Newer versions write NO_VALIDATOR for all other rules. */
function validationOf(extra: Obj): string | undefined {
  const state = str(extra.validation_state)?.toLowerCase();
  return state === 'no_validator' ? undefined : state;
}

function isSecret(metadata: Obj, cwes: readonly number[]): boolean {
  return (
    cwes.some((cwe) => cwe === 798 || cwe === 321 || cwe === 259) ||
    [...strs(metadata.technology), ...strs(metadata.vulnerability_class)].some((word) => /\bsecrets?\b/i.test(word))
  );
}

/** A message may quote what the rule's variables matched, which may be the secret. */
function masked(message: string | undefined, extra: Obj): string | undefined {
  const matched = Object.values(obj(extra.metavars)).flatMap((variable) => {
    const { abstract_content, propagated_value } = obj(variable);
    return [...strs(abstract_content), ...strs(obj(propagated_value).svalue_abstract_content)].flatMap((text) => [text, text.replace(/^["'`]|["'`]$/g, '')]);
  });
  return matched
    .filter((text) => text.length >= 4)
    .sort((a, b) => b.length - a.length)
    .reduce((text, secret) => text?.replaceAll(secret, '***'), message?.slice(0, MAX_MESSAGE));
}

export function firstSentence(message: string | undefined): string | undefined {
  const line = message?.trim().split('\n')[0]?.trim();
  return line ? (/^.{10,200}?[.!?](?=\s|$)/.exec(line)?.[0] ?? line.slice(0, 200)) : undefined;
}

/** Skip reasons that do not affect coverage, because the rule does not apply to the file. */
const HARMLESS_SKIPS = new Set(['irrelevant_rule', 'wrong_language']);

/** Errors because of which a rule was not run on any file. Others are about one file. */
const RULE_ERRORS = /rule|plugin|pattern/i;

/** Most rules that are named as skipped. A run that skips more proves nothing. */
const MAX_SKIPPED = 10_000;

export async function aboutRun(input: ReportInput): Promise<About> {
  const { missed, about } = startAbout();
  const skipped = new Set<string>();
  for await (const { pattern, value } of jsonValues(input, ['errors.*', 'paths.skipped.*', 'skipped_rules.*'])) {
    const { path, location, level, reason, rule_id, type } = obj(value);
    const file = filePath(str(path) ?? str(obj(location).path));
    const rule = str(rule_id);
    if (pattern === 2 || (pattern === 0 && RULE_ERRORS.test(String(str(type) ?? arr(type)[0])))) {
      if (rule !== undefined && skipped.size < MAX_SKIPPED) skipped.add(rule);
      else if (pattern === 2 || level === 'error') missed(undefined);
    } else if (pattern === 0 ? file !== undefined || level === 'error' : !HARMLESS_SKIPS.has(String(reason))) missed(file);
  }
  return { ...about(), ...(skipped.size > 0 ? { skipped: [...skipped].map((rule) => ({ rule, path: null })) } : {}) };
}
