import { type EvidenceDocument, fieldOf, type TrailEvent, textOf } from '@rrs/evidence-format';
import { EVIDENCE, type Fault } from '../fault.ts';
import { type Act, isOther, omitted, unproven } from './act.ts';

interface ArtifactActs {
  added: Act | null;
  removed: Act | null;
  supersededBy: string | null;
}

/** What the audit trail says about artifacts. */
export interface ArtifactFacts {
  /** By artifact. */
  acts: Map<string, ArtifactActs>;
  /** By ticket of the work item: its address when it was linked. The list of artifacts has it without an event of its own. */
  tickets: Map<string, string>;
}

export function emptyArtifactFacts(): ArtifactFacts {
  return { acts: new Map(), tickets: new Map() };
}

/** A ticket that is gone at the vendor, or is created again, may have no address for a while. */
const ENDED: ReadonlySet<string> = new Set(['work_item.ticket_unlinked', 'work_item.ticket_gone', 'work_item.ticket_repair_requested']);

/** Adds the next event. */
export function addArtifactEvent({ acts, tickets }: ArtifactFacts, { at, action, actor, object, before, after }: TrailEvent, itemId: string): void {
  const act = { at, person: actor.person };
  const known = acts.get(object.id) ?? { added: null, removed: null, supersededBy: null };
  if (action === 'artifact.added' && fieldOf(after, 'work_item_id') === itemId) acts.set(object.id, { ...known, added: act });
  if (action === 'artifact.removed') acts.set(object.id, { ...known, removed: act });
  if (action === 'artifact.superseded') acts.set(object.id, { ...known, supersededBy: textOf(after, 'superseded_by') });
  if (object.type !== 'work_item' || object.id !== itemId) return;
  const [ticket, url] = [textOf(after, 'ticket_id') ?? textOf(before, 'ticket_id'), textOf(after, 'url')];
  if (ticket === null) return;
  if (action === 'work_item.ticket_linked' && url !== null) tickets.set(ticket, url);
  if (ENDED.has(action)) tickets.delete(ticket);
}

export function* artifactFaults({ artifacts }: EvidenceDocument, { acts, tickets }: ArtifactFacts): Generator<Fault> {
  const listed = new Set(artifacts.map(({ id }) => id));
  for (const id of acts.keys()) if (!listed.has(id)) yield omitted(`the artifact ${id}`);
  // Somebody may also have added the ticket by hand, with the address that it has now.
  const hosts = new Set(artifacts.flatMap(({ url }) => (url === null ? [] : [hostOf(url)])));
  for (const [id, url] of tickets) if (!listed.has(id) && !hosts.has(hostOf(url))) yield omitted(`the ticket ${id} of the work item`);
  for (const artifact of artifacts) {
    const { id, added_by, removed, superseded_by } = artifact;
    const known = acts.get(id);
    if (!known?.added && !isTicket(artifact)) yield unproven(EVIDENCE, `that the artifact ${id} was added`);
    if (isOther(known?.added, added_by)) yield unproven(EVIDENCE, `that this person added the artifact ${id}`);
    if (removed === null && known?.removed) yield omitted(`the removal of the artifact ${id}`);
    if (removed !== null && (!known?.removed || isOther(known.removed, removed.by))) yield unproven(EVIDENCE, `that this person removed the artifact ${id}`);
    const supersededBy = known?.supersededBy ?? null;
    if (superseded_by === supersededBy) continue;
    yield superseded_by === null ? omitted(`that the artifact ${id} was superseded`) : unproven(EVIDENCE, `that this artifact superseded the artifact ${id}`);
  }
}

/** A ticket that the service lists itself. It knows where the ticket is, and nothing else, so it makes no gap smaller. */
function isTicket({ type, added_by, captured, occurred_at, filename, media_type, size, sha256 }: EvidenceDocument['artifacts'][number]): boolean {
  const isLink = [occurred_at, filename, media_type, size, sha256, added_by.person].every((value) => value === null);
  return type === 'change_ticket' && added_by.kind === 'system' && isLink && !captured;
}

/** `https://tickets.example` of an address. */
function hostOf(url: string): string {
  return url.split('/').slice(0, 3).join('/').toLowerCase();
}
