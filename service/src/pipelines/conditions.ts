import type { FieldError } from '../shared/errors.ts';

/** Names of claims with the values that each may have. A value can contain `*`. All claims must match. */
export type Conditions = Readonly<Record<string, readonly string[]>>;
export type Claims = Readonly<Record<string, unknown>>;

/** The claims that say whose pipeline it is. Issuers such as GitHub sign tokens for everybody, so at least one of them is required. */
const identifyingClaims = [
  'sub',
  'repository',
  'repository_id',
  'repository_owner',
  'repository_owner_id',
  'project_path',
  'project_id',
  'namespace_path',
  'namespace_id',
] as const;

/** Where a pattern is divided into segments. A `*` never matches across them. */
const SEPARATOR = /[/:]/;

/** How many segments at the beginning of a value must not contain `*`. In `sub`, the first one only says what the second one is: "repo:acme/shop". */
const literalSegments = (claim: string): number => (claim === 'sub' ? 2 : 1);

/**
 * Threat: a pattern that matches pipelines of strangers, such as `*`, `acme*` (also "acme-evil/shop") or `repo:*:ref:refs/heads/main`. The beginning of
 * each value is therefore literal.
 */
export function conditionErrors(conditions: Conditions): FieldError[] {
  const at = (path: string, code: string, detail: string): FieldError => ({ in: 'body', path: `/conditions${path}`, code, detail });
  const names = Object.keys(conditions);
  const identified = names.some((name) => identifyingClaims.some((claim) => claim === name));
  const missing = identified ? [] : [at('', 'identity_required', `needs a condition on at least one of: ${identifyingClaims.join(', ')}`)];
  const wild = Object.entries(conditions).flatMap(([claim, values]) =>
    values.flatMap((value, index) => {
      const beginning = value.split(SEPARATOR).slice(0, literalSegments(claim));
      if (!beginning.some((segment) => segment.includes('*'))) return [];
      const detail = `must not begin with a wildcard: "${value}" also matches pipelines of others. Write out what comes before the first "/" or ":"`;
      return [at(`/${escapePointer(claim)}/${index}`, 'wildcard', claim === 'sub' ? `${detail}, and the owner after it` : detail)];
    }),
  );
  return [...missing, ...wild];
}

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Whether all conditions are met. A claim that is missing, or that is not a single value, meets none. */
export function meets(conditions: Conditions, claims: Claims): boolean {
  const entries = Object.entries(conditions);
  return entries.length > 0 && entries.every(([claim, values]) => values.some((value) => Object.hasOwn(claims, claim) && matches(value, claims[claim])));
}

function matches(pattern: string, claim: unknown): boolean {
  if (typeof claim !== 'string' && typeof claim !== 'number' && typeof claim !== 'boolean') return false;
  const text = String(claim);
  if (!pattern.includes('*')) return text === pattern;
  const [parts, given] = [pattern.split(SEPARATOR), text.split(SEPARATOR)];
  const separators = (whole: string): string => whole.replaceAll(/[^/:]/g, '');
  return separators(pattern) === separators(text) && parts.every((part, index) => matchesSegment(part, given[index] ?? ''));
}

/** `*` stands for one or more characters. Without regular expressions, so that no pattern is slow. */
function matchesSegment(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return text === pattern;
  if (!text.startsWith(first)) return false;
  let position = first.length;
  for (const [index, part] of rest.entries()) {
    const isLast = index === rest.length - 1;
    const found = isLast ? text.length - part.length : text.indexOf(part, position + 1);
    if (found < position + 1 || !text.startsWith(part, found)) return false;
    position = found + part.length;
  }
  return position === text.length;
}
