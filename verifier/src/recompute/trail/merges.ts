import { canonicalJson, type Finding, fieldOf, type TrailEvent } from '@rrs/evidence-format';
import { type Fault, FINDINGS } from '../fault.ts';

/** By finding that was merged: the one that it was merged into, and the state that it had. */
export type Merges = Map<string, { into: string; kind: unknown; was: Pick<Finding['merged'][number], 'state' | 'title' | 'severity'> }>;

/** Adds the next event. Both findings have one: this reads the events of the finding that stays. */
export function addMerge(merges: Merges, { object, after }: TrailEvent): void {
  const [from, split] = [fieldOf(after, 'merged_from'), fieldOf(after, 'split')];
  if (typeof from === 'string') merges.set(from, { into: object.id, kind: fieldOf(fieldOf(after, 'merged'), 'kind'), was: wasThen(fieldOf(after, 'merged')) });
  if (typeof split === 'string') merges.delete(split);
}

/** The values are only compared, so their form does not matter. */
function wasThen(merged: unknown): Pick<Finding['merged'][number], 'state' | 'title' | 'severity'> {
  const [state, title, severity] = ['state', 'title', 'severity'].map((name) => fieldOf(merged, name) ?? null);
  return { state, title, severity } as Pick<Finding['merged'][number], 'state' | 'title' | 'severity'>;
}

/** Merges that other records say, such as an alias, hide nothing. */
const BY_PEOPLE: ReadonlySet<unknown> = new Set(['by_person', 'asset_merge']);

/** By finding that stays: the findings that people merged into it, also by way of others, sorted by ID. */
export function mergedByPeople(merges: Merges): Map<string, Finding['merged']> {
  const result = new Map<string, Finding['merged']>();
  const roots = new Map<string, string>();
  for (const [id, { kind, was }] of merges) {
    if (!BY_PEOPLE.has(kind)) continue;
    const root = rootOf(merges, roots, id);
    const list = result.get(root);
    if (list === undefined) result.set(root, [{ id, ...was }]);
    else list.push({ id, ...was });
  }
  for (const list of result.values()) list.sort((one, other) => (one.id < other.id ? -1 : 1));
  return result;
}

/** Where the merges lead from a finding. Keeps it for all on the way, so that a long chain is followed once. A circle ends where it began. */
function rootOf(merges: Merges, roots: Map<string, string>, id: string): string {
  const passed = new Set<string>();
  let at = id;
  for (let next = merges.get(at); next !== undefined && !passed.has(at) && !roots.has(at); next = merges.get(at)) {
    passed.add(at);
    at = next.into;
  }
  const root = roots.get(at) ?? at;
  for (const one of passed) roots.set(one, root);
  return root;
}

/** A finding that stands for others is never better than they were. */
export function* mergeFaults({ id, merged }: Finding, expected: Finding['merged'] = []): Generator<Fault> {
  if (canonicalJson(merged) === canonicalJson(expected)) return;
  yield {
    code: 'recorded_otherwise',
    file: FINDINGS,
    detail: `The audit trail shows other findings that were merged into the finding ${id}, or other facts about them.`,
    expected: listed(expected),
    actual: listed(merged),
  };
}

function listed(merged: Finding['merged']): string {
  return merged.length === 0 ? 'none' : merged.map(({ id, state }) => `${id} ${state}`).join(', ');
}
