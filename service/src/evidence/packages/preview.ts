import { approvedStateDigest, approvedStateLines, approvedStateOf, deriveEvidence, type Evidence } from '@rrs/evidence-format';
import type { BlobStore } from '../../blobs/blobs.ts';
import type { Database, TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';
import type { ReadItemState } from '../../work-items/approvals/state.ts';
import { actorRef } from '../actor-ref.ts';
import { buildFacts } from '../content/build-evidence.ts';
import { readSnapshot, type Snapshot } from '../content/snapshot.ts';
import { logName } from '../log/checkpoints.ts';
import { type LogState, readTransparencyLog } from '../log/transparency-log.ts';
import { nextSequence, type PackageToBuild } from './packages.ts';
import { evidenceOf, repeatableRead } from './seal.ts';

export interface Previewing {
  db: Database;
  blobs: BlobStore;
  publicUrl: () => string;
  /** Whether a time-stamping authority is configured. */
  timestamped: boolean;
}

interface Preview {
  row: PackageToBuild;
  snapshot: Snapshot;
  log: Pick<LogState, 'origin' | 'epoch' | 'createdAt'>;
}

/** What a package would state if it was sealed now. Nothing is written. */
export async function previewPackage({ db, blobs, publicUrl, timestamped }: Previewing, actor: Actor, workItemId: string): Promise<Evidence> {
  const { row, snapshot, log } = await db.withTenant(actor, async (tx) => {
    await repeatableRead(tx);
    return readPreview(tx, { orgId: actor.orgId, workItemId, publicUrl: publicUrl(), actor });
  });
  const { evidence } = await evidenceOf(blobs, row, snapshot, { generatedAt: snapshot.asOf, version: '', timestamped, witnessed: null, log });
  return evidence;
}

async function readPreview(
  tx: TenantTx,
  { orgId, workItemId, publicUrl, actor }: { orgId: string; workItemId: string; publicUrl: string; actor: Actor },
): Promise<Preview> {
  const sequence = await nextSequence(tx, orgId, workItemId);
  const row = { org_id: orgId, id: newId(), work_item_id: workItemId, sequence, formats: [], note: null, requested_by: { ...actorRef(actor) } };
  const snapshot = await readSnapshot(tx, row, actor.person);
  const log = await readTransparencyLog(tx, orgId);
  // Sealing starts the first epoch, or the next one if the log has ended.
  const next = { origin: log?.origin ?? logName(publicUrl, orgId), epoch: (log?.epoch ?? 0) + 1, createdAt: snapshot.asOf };
  return { row, snapshot, log: log === null || log.ending !== null ? next : log };
}

/** The state that an approval is about, as a package sealed now would compute it, and whether that package would count an approval by the actor. */
export const readItemState: ReadItemState = async (tx, orgId, workItemId, actor) => {
  const { row, snapshot, log } = await readPreview(tx, { orgId, workItemId, publicUrl: 'http://localhost', actor });
  const settings = { generatedAt: snapshot.asOf, version: '', timestamped: false, witnessed: null, log, storedReports: new Set<string>(), formats: [] };
  const facts = buildFacts(row, snapshot, settings);
  const lines = [...approvedStateLines(approvedStateOf(deriveEvidence(facts, snapshot.trail.events)))];
  const digest = approvedStateDigest(lines);
  const approval = { id: row.id, decision: 'approved', by: facts.requested_by, at: facts.as_of, comment: null, state_sha256: digest } as const;
  const { checks } = deriveEvidence({ ...facts, approvals: [approval] }, snapshot.trail.events);
  return { lines, digest, isIndependent: checks.some(({ id, result }) => id === 'approved_independently' && result === 'pass') };
};
