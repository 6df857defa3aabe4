import type { TrailEvent } from '@rrs/evidence-format';
import type { Act } from './act.ts';
import { type Actors, addActor, emptyActors } from './actors.ts';
import { type ArtifactFacts, addArtifactEvent, emptyArtifactFacts } from './artifacts.ts';
import { type AssetFacts, addAssetEvent, addRemoval, type Removals } from './assets.ts';
import { addCredential, type GivenCredentials } from './credentials.ts';
import { addDelivery, type DeliveryFacts } from './deliveries.ts';
import { addFindingEvent, type FindingActs } from './finding-acts.ts';
import { addMerge, type Merges } from './merges.ts';
import { addPackageEvent, type PackageFacts } from './packages.ts';
import { type RecordedValues, recordValues } from './recorded-values.ts';
import { addToSequence, emptySequence, type Sequence } from './sequence.ts';

/** What the audit trail says about the things that the document states. */
export interface TrailFacts {
  created: Act | null;
  approvals: Map<string, Act & { decision: string; digest: unknown; comment: unknown }>;
  /** By finding: how it got there. */
  acts: Map<string, FindingActs>;
  /** When findings were added to the work item, oldest first. */
  linkedAt: string[];
  /** Findings that were added to the work item. The service names at most some of those that were added at once. */
  linked: Set<string>;
  /** Findings that were ever merged into another one, which stands for them. */
  merged: Set<string>;
  merges: Merges;
  deliveries: DeliveryFacts;
  credentials: GivenCredentials;
  /** By finding: the last claims that it is fixed. */
  claims: Map<string, Act[]>;
  /** By finding: its last removal from the work item. */
  unlinked: Map<string, Act & { reason: unknown; severity: unknown }>;
  artifacts: ArtifactFacts;
  /** By scan. */
  confirmed: Map<string, Act>;
  recorded: RecordedValues;
  sequence: Sequence;
  /** Whether and when people act, and how they are called. */
  actors: Actors;
  assets: AssetFacts;
  packages: PackageFacts;
  removals: Removals;
}

export function emptyTrailFacts(): TrailFacts {
  return {
    created: null,
    approvals: new Map(),
    acts: new Map(),
    linkedAt: [],
    linked: new Set(),
    merged: new Set(),
    merges: new Map(),
    deliveries: { imported: new Map(), connections: new Map(), outcomes: new Map() },
    credentials: new Map(),
    claims: new Map(),
    unlinked: new Map(),
    artifacts: emptyArtifactFacts(),
    confirmed: new Map(),
    recorded: { objects: new Map(), policies: [] },
    sequence: emptySequence(),
    actors: emptyActors(),
    assets: new Map(),
    packages: new Map(),
    removals: new Map(),
  };
}

/** Claims that are kept for each finding, so that a trail of claims only does not fill the memory. */
const MAX_CLAIMS = 20;

/** Adds the next event. Memory grows with the things that the trail is about, not with the events. */
export function addEvent(facts: TrailFacts, event: TrailEvent, { seq, itemId }: { seq: number; itemId: string }): void {
  const { at, action, actor, object, after } = event;
  const act = { at, person: actor.person };
  const { status } = fieldsOf(after);
  addToSequence(facts.sequence, event, seq);
  addActor(facts.actors, event, seq);
  recordValues(facts.recorded, event);
  if (object.type === 'finding' && status === 'remediated') facts.claims.set(object.id, [...(facts.claims.get(object.id) ?? []).slice(-MAX_CLAIMS), act]);
  if (object.type === 'finding') {
    addFindingEvent(facts.acts, event);
    addMerged(facts.merged, event);
    addMerge(facts.merges, event);
  }
  addAssetEvent(facts.assets, event);
  addRemoval(facts.removals, event);
  addPackageEvent(facts.packages, event);
  addDelivery(facts.deliveries, event);
  addCredential(facts.credentials, event);
  if (object.type === 'work_item' && object.id === itemId) addItemEvent(facts, event, act);
  addArtifactEvent(facts.artifacts, event, itemId);
  if (action === 'import.confirmed') facts.confirmed.set(object.id, act);
}

function addMerged(merged: Set<string>, { object, after }: TrailEvent): void {
  const { merged_into, merged_from } = fieldsOf(after);
  if (typeof merged_into === 'string') merged.add(object.id);
  if (typeof merged_from === 'string') merged.add(merged_from);
}

function addItemEvent(facts: TrailFacts, { action, after }: TrailEvent, act: Act): void {
  const { approval_id, state_digest, finding_id, finding_ids, comment, reason, severity } = fieldsOf(after);
  if (action === 'work_item.created') facts.created = act;
  if (action === 'work_item.approved' || action === 'work_item.rejected')
    facts.approvals.set(String(approval_id), { ...act, decision: action.slice('work_item.'.length), digest: state_digest, comment: comment ?? null });
  if (action === 'work_item.findings_linked') facts.linkedAt.push(act.at);
  if (action === 'work_item.findings_linked' && Array.isArray(finding_ids)) for (const id of finding_ids) facts.linked.add(String(id));
  if (action === 'work_item.finding_unlinked') facts.unlinked.set(String(finding_id), { ...act, reason, severity });
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
}
