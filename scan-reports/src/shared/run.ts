import type { ListedComponent, ReportEntry, RunFacts } from '../contract.ts';
import { boundedAsset } from '../names/bounded-asset.ts';
import { name } from '../names/clean-text.ts';

type Given = { [Key in keyof RunFacts]?: RunFacts[Key] | null | undefined };

const MAX_VERSION = 200;
/** Nessus has more than 200,000 plugins. */
const MAX_LISTED = 400_000;
const MAX_COMPONENTS = 100_000;

/** Yields the facts that are known about a run, with the length of names limited. Yields nothing if there are none. */
export function* runEntry(given: Given): Generator<ReportEntry> {
  const facts = Object.entries(given).flatMap(([key, value]) => {
    const bounded = boundedFact(value);
    return bounded === undefined ? [] : [[key, bounded]];
  });
  const run: RunFacts = { ...Object.fromEntries(facts), ...(given.asset ? { asset: boundedAsset(given.asset) } : {}) };
  if (Object.keys(run).length > 0) yield { run };
}

function boundedFact(value: Given[keyof Given]): unknown {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string') return name(value).slice(0, MAX_VERSION) || undefined;
  if (!Array.isArray(value) || value.some((entry) => typeof entry === 'object')) return value;
  const unique = new Set(value.map(name).filter((entry) => entry !== ''));
  return unique.size === 0 || unique.size > MAX_LISTED ? undefined : [...unique];
}

/**
 * Collects a list that a report must state completely, in bounded memory. Returns undefined if the list is longer than the limit, because
 * an incomplete list says nothing.
 */
export function startList(limit = MAX_LISTED) {
  const entries = new Set<string>();
  let isComplete = true;
  return {
    add(entry: string | undefined): void {
      if (entry === undefined || (entries.size >= limit && !entries.has(entry))) isComplete = false;
      else entries.add(entry);
    },
    list: (): readonly string[] | undefined => (isComplete && entries.size > 0 ? [...entries] : undefined),
  };
}

/** Collects the components that a report lists, up to a limit. Returns undefined if it lists only those with findings: then it does not tell which others are there. */
export function startComponents() {
  const listed: ListedComponent[] = [];
  let hasClean = false;
  return {
    add({ name, version }: { name: string | undefined; version: string | undefined }, isClean: boolean): void {
      if (name === undefined || version === undefined || listed.length >= MAX_COMPONENTS) return;
      listed.push({ name, version });
      hasClean ||= isClean;
    },
    list: (): readonly ListedComponent[] | undefined => (hasClean ? listed : undefined),
  };
}

/** Of resources, and of checks of them. */
const MAX_MADE = 100_000;

/**
 * Collects the checks of a report that says on which resource each was made. Its list also has each `location.resource`, and the rule, a space and
 * `location.resource` for each check that came to a result there. A check without one on a resource that others name was not made there.
 */
export function startChecks() {
  const [rules, made] = [startList(), startList(MAX_MADE)];
  return {
    add(rule: string | undefined, resource: string | undefined, hasResult: boolean): void {
      rules.add(rule);
      if (resource === undefined) return;
      made.add(resource);
      if (hasResult) made.add(`${rule} ${resource}`);
    },
    list: (): readonly string[] | undefined => rules.list()?.concat(made.list() ?? []),
  };
}
