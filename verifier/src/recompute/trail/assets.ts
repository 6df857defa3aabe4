import { type EvidenceDocument, fieldOf, type TrailEvent } from '@rrs/evidence-format';
import { EVIDENCE, type Fault } from '../fault.ts';
import { unproven } from './act.ts';

/** By asset: the last value of what people set. Whether it is retired is one of them. */
export type AssetFacts = Map<string, Map<string, unknown>>;

const SET_BY_PEOPLE = ['owner', 'criticality', 'exposure', 'retired'];

/** Adds the next event. */
export function addAssetEvent(assets: AssetFacts, { action, object, after }: TrailEvent): void {
  if (action !== 'asset.updated' && action !== 'asset.reactivated') return;
  const known = assets.get(object.id) ?? new Map<string, unknown>();
  assets.set(object.id, known);
  for (const name of SET_BY_PEOPLE) {
    const value = fieldOf(after, name);
    if (value !== undefined) known.set(name, value);
  }
  if (action === 'asset.reactivated') known.set('retired', false);
}

export function* assetFaults({ assets, work_item }: EvidenceDocument, facts: AssetFacts): Generator<Fault> {
  for (const { id, retired_at, owner, criticality, exposure } of assets) {
    const recorded = facts.get(id);
    const stated = { owner, criticality, exposure, retired: retired_at !== null };
    for (const [name, actual] of Object.entries(stated)) {
      const expected = recorded?.get(name);
      if (!recorded?.has(name) || expected === actual) continue;
      const detail = `The audit trail records another value of \`${name}\` for the asset ${id}.`;
      yield { code: 'recorded_otherwise', file: EVIDENCE, detail, expected: String(expected), actual: String(actual) };
    }
    // The audit trail begins with the work item at the latest.
    if (retired_at !== null && retired_at > work_item.created_at && !recorded?.has('retired')) yield unproven(EVIDENCE, `that the asset ${id} was retired`);
  }
}

/** Who removed sources and when, by the time. */
export type Removals = Map<string, Set<string | null>>;

/** Adds the next event. */
export function addRemoval(removals: Removals, { at, action, actor }: TrailEvent): void {
  if (action !== 'source.retired' && action !== 'connection.deleted') return;
  removals.set(at, (removals.get(at) ?? new Set()).add(actor.person));
}

export function* sourceFaults({ sources, work_item }: EvidenceDocument, removals: Removals): Generator<Fault> {
  for (const { source, removed_at, removed_by } of sources) {
    if (removed_at === null || removed_at <= work_item.created_at) continue;
    if (!removals.get(removed_at)?.has(removed_by?.person ?? null)) yield unproven(EVIDENCE, `that this person removed the source ${source} then`);
  }
}
