import { approvedStateDigest, approvedStateLines, approvedStateOf, deriveEvidence, type Evidence } from '@rrs/evidence-format';
import type { Static } from 'typebox';
import type { Database, TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';
import { type ItemState, readShownState } from '../../work-items/approvals/state.ts';
import { stateDifference } from '../../work-items/approvals/state-difference.ts';
import { actorRef } from '../actor-ref.ts';
import { buildEvidence, buildFacts } from '../content/build-evidence.ts';
import { readSnapshot, repeatableRead, type Snapshot } from '../content/snapshot.ts';
import { logName } from '../log/checkpoints.ts';
import { type LogState, readTransparencyLog } from '../log/transparency-log.ts';
import { nextSequence, type PackageToBuild } from '../packages/packages.ts';
import { toGap } from '../present-gap.ts';
import type { PackagePreview } from '../schemas-packages.ts';
import { stateFingerprint } from './fingerprint.ts';

export interface PreviewTask {
  actor: Actor;
  workItemId: string;
  publicUrl: string;
  /** Whether a time-stamping authority is configured. */
  timestamped: boolean;
}

/** Tells which reports are still there, by their SHA-256. */
type AreStored = (sha256: string[]) => Promise<string[]>;

/** What a package would state if it was sealed now. Nothing is written. */
export async function computePreview(db: Database, task: PreviewTask, areStored: AreStored): Promise<Static<typeof PackagePreview>> {
  const { work_item, as_of, conclusion, completeness, counts } = await computeEvidence(db, task, areStored);
  const { grade, gaps } = completeness;
  return { work_item_id: work_item.id, as_of, conclusion, completeness: { grade, gaps: gaps.map(toGap) }, counts };
}

/** The evidence of which a preview shows the result. */
export async function computeEvidence(db: Database, { actor, workItemId, publicUrl, timestamped }: PreviewTask, areStored: AreStored): Promise<Evidence> {
  const { row, snapshot, log } = await db.withTenant(actor, async (tx) => {
    await repeatableRead(tx);
    return readContent(tx, actor, workItemId, publicUrl);
  });
  const storedReports = new Set(await areStored(snapshot.scans.map(({ sha256 }) => sha256)));
  const settings = { ...UNUSED, generatedAt: snapshot.asOf, timestamped, log, storedReports };
  return buildEvidence(row, snapshot, settings);
}

export interface StateTask {
  actor: Actor;
  workItemId: string;
  /** Digest of the state that the person saw. */
  seen: string | null;
}

/** Transactions are shorter than that, so all audit events that a later one can still add are younger. */
const LONGEST_TRANSACTION_MS = 60 * 60 * 1000;

/** The state that an approval is about, as a package sealed now would compute it, and whether that package would count an approval by the actor. */
export async function computeState(db: Database, { actor, workItemId, seen }: StateTask): Promise<ItemState> {
  const { orgId } = actor;
  const { row, snapshot, log, inputs, shown } = await db.withTenant(actor, async (tx) => {
    await repeatableRead(tx);
    const content = await readContent(tx, actor, workItemId, 'http://localhost');
    const since = new Date(content.snapshot.asOf.getTime() - LONGEST_TRANSACTION_MS).toISOString();
    const inputs = { since, fingerprint: await stateFingerprint(tx, orgId, workItemId, since) };
    return { ...content, inputs, shown: seen === null ? null : await readShownState(tx, orgId, workItemId, seen) };
  });
  const facts = buildFacts(row, snapshot, { ...UNUSED, generatedAt: snapshot.asOf, timestamped: false, log, storedReports: new Set<string>() });
  // The state does not depend on approvals, so one that nobody gave can show whether it would be independent.
  const approval = { id: row.id, decision: 'approved', by: facts.requested_by, at: facts.as_of, comment: null, state_sha256: '' } as const;
  const evidence = deriveEvidence({ ...facts, approvals: [approval] }, snapshot.trail.events);
  const lines = [...approvedStateLines(approvedStateOf(evidence))];
  const digest = approvedStateDigest(lines);
  return {
    digest,
    text: lines.join('\n'),
    isIndependent: !evidence.completeness.gaps.some(({ code }) => code === 'approver_took_part'),
    changes: shown === null || digest === seen ? null : stateDifference(shown.split('\n'), lines),
    inputs,
  };
}

/** Settings of packages that neither the conclusion nor the state depends on. */
const UNUSED = { version: '', build: null, witnessed: null, formats: [] };

interface Content {
  row: PackageToBuild;
  snapshot: Snapshot;
  log: Pick<LogState, 'origin' | 'epoch' | 'createdAt'>;
}

async function readContent(tx: TenantTx, actor: Actor, workItemId: string, publicUrl: string): Promise<Content> {
  const { orgId } = actor;
  const sequence = await nextSequence(tx, orgId, workItemId);
  const row = { org_id: orgId, id: newId(), work_item_id: workItemId, sequence, formats: [], note: null, requested_by: { ...actorRef(actor) } };
  const snapshot = await readSnapshot(tx, row, actor.person);
  const log = await readTransparencyLog(tx, orgId);
  // Sealing starts the first epoch, or the next one if the log has ended.
  const next = { origin: log?.origin ?? logName(publicUrl, orgId), epoch: (log?.epoch ?? 0) + 1, createdAt: snapshot.asOf };
  return { row, snapshot, log: log === null || log.ending !== null ? next : log };
}
