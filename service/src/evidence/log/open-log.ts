import {
  canonicalJson,
  type Envelope,
  emptyRoot,
  envelopeOf,
  epochStatement,
  type LogEpoch,
  leafEntry,
  loggedSuccession,
  logOrigin,
  PAYLOAD_TYPE,
  parseOrigin,
  parseSuccessionStatement,
  preAuthEncoding,
  toHex,
} from '@rrs/evidence-format';
import type { Database, TenantTx } from '../../db/database.ts';
import { readSuccessions, type Signers } from '../keys/keys.ts';
import { type Contradiction, compareWithWitnesses, contradictionIn, cosign } from './cosign.ts';
import { expectNoMarks, highestEpoch, type LogMark, marksAreLost, readMarks, writeMark } from './marks.ts';
import {
  type Appended,
  appendLeaf,
  hasStatement,
  type LogEnding,
  type LogRef,
  LogRestarted,
  type LogState,
  latestCheckpoint,
  lockLog,
  proveConsistency,
  readTransparencyLog,
} from './transparency-log.ts';
import type { Witness, WitnessAnswer } from './witnesses.ts';

export interface LogOpening {
  db: Database;
  keysDir: string;
  signers: Signers;
  /** Name of a log that does not exist yet. */
  name: string;
  witnesses: readonly Witness[];
}

export interface OpenLog {
  log: LogState;
  /** What the witnesses said about the log before anything is added to it. */
  answers: WitnessAnswer[];
}

/** Copies of a database that use the same keys and witnesses can start the same epoch, so the next one may be taken too. */
const MAX_CONTRADICTIONS = 3;

/** Returns the epoch that can be appended to. Starts the first one, or the next one if the database was restored or rewound. */
export async function openLog(opening: LogOpening, orgId: string): Promise<OpenLog> {
  for (let contradictions = 0; ; contradictions++) {
    const log = await openEpoch(opening, orgId);
    const answers = await compareWithWitnesses(opening, opening.signers, log);
    const contradiction = contradictionIn(answers);
    // A witness that contradicts every epoch is out of order.
    if (contradiction === null || contradictions === MAX_CONTRADICTIONS) return { log, answers };
    await endContradicted(opening.db, log, contradiction);
  }
}

async function openEpoch({ db, keysDir, signers, name }: LogOpening, orgId: string): Promise<LogState> {
  await endIfRewound(db, keysDir, orgId);
  const marks = await readMarks(keysDir, orgId);
  const read = () => db.withTenant({ orgId }, (tx) => readTransparencyLog(tx, orgId));
  const previous = await read();
  if (previous?.ending !== null || (marks.size > 0 && previous === null)) {
    const epoch = await describeEpoch(db, { orgId, name, previous, marks });
    const envelope = await signStatement(signers, epochStatement(epoch));
    const appended = await db.withTenant({ orgId }, (tx) => startEpoch(tx, { epoch, envelope, entry: leafEntry(envelope, signers.package.publicKeyPem) }));
    if (appended) await writeMark(keysDir, orgId, appended);
  }
  await appendSuccessions(db, keysDir, orgId);
  const opened = await read();
  if (!opened) throw new Error('the transparency log was not created');
  return opened;
}

/** Signs a statement about the log or about a package with the package key, like a package. */
export async function signStatement({ package: signer }: Pick<Signers, 'package'>, statement: Uint8Array): Promise<Envelope> {
  const signature = await signer.sign(preAuthEncoding(PAYLOAD_TYPE, statement));
  return envelopeOf(statement, { keyId: signer.keyId, signature });
}

interface Predecessor {
  orgId: string;
  name: string;
  previous: LogState | null;
  marks: ReadonlyMap<string, LogMark>;
}

async function describeEpoch(db: Database, { orgId, name, previous, marks }: Predecessor): Promise<LogEpoch> {
  const at = new Date().toISOString();
  const last = Math.max(previous?.epoch ?? 0, highestEpoch(marks));
  if (last === 0) {
    return { organization_id: orgId, epoch: 1, origin: name, previous: null, lost: null, reason: 'created', backup: null, at };
  }
  const kept = previous ?? { epoch: last, origin: originIn(marks, last), size: 0 };
  const root = previous ? await db.withTenant({ orgId }, async (tx) => (await proveConsistency(tx, previous, 0, previous.size)).root) : emptyRoot;
  const mark = marks.get(kept.origin);
  const ending = previous?.ending ?? null;
  const highest = highestKnown({ kept: { size: kept.size, root: toHex(root) }, mark, witnessed: ending?.witnessed_size ?? 0 });
  // A witness that has seen another tree does not say how many entries of it are gone.
  const isLossKnown = ending?.witness ? ending.witnessed_size !== null : mark !== undefined;
  const origin = logOrigin({ name: parseOrigin(kept.origin).name, epoch: last + 1 });
  return {
    organization_id: orgId,
    epoch: last + 1,
    origin,
    previous: {
      epoch: kept.epoch,
      origin: kept.origin,
      kept: { size: kept.size, root: toHex(root) },
      highest_known: highest,
    },
    lost: isLossKnown ? highest.size - kept.size : null,
    reason: ending?.reason ?? 'rewound',
    backup: ending?.backup ?? null,
    at,
  };
}

interface KnownSizes {
  kept: { size: number; root: string };
  mark: LogMark | undefined;
  witnessed: number;
}

/** The largest tree that the database, the marks or a witness know. */
function highestKnown({ kept, mark, witnessed }: KnownSizes): NonNullable<LogEpoch['previous']>['highest_known'] {
  if (witnessed > Math.max(kept.size, mark?.size ?? 0)) return { size: witnessed, root: null, source: 'witness' };
  const isAhead = mark !== undefined && (mark.size > kept.size || (mark.size === kept.size && mark.root !== kept.root));
  return isAhead ? { size: mark.size, root: mark.root, source: 'mark' } : { ...kept, source: 'database' };
}

function originIn(marks: ReadonlyMap<string, LogMark>, epoch: number): string {
  return [...marks.keys()].find((origin) => parseOrigin(origin).epoch === epoch) ?? '';
}

interface NewEpoch {
  epoch: LogEpoch;
  envelope: Envelope;
  entry: string;
}

/** Returns `null` if another process started the epoch first. */
async function startEpoch(tx: TenantTx, { epoch: { organization_id: orgId, epoch, origin, at }, envelope, entry }: NewEpoch) {
  await lockLog(tx, orgId);
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('log_epochs')
    .values({ org_id: orgId, epoch, origin, created_at: new Date(at) })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows === 0n) return null;
  return appendLeaf(tx, { orgId, epoch }, { entry, packageId: null, envelope: canonicalJson(envelope) });
}

/** Rotations since the epoch started become entries before the next package. */
async function appendSuccessions(db: Database, keysDir: string, orgId: string): Promise<void> {
  const appended = await db.withTenant({ orgId }, async (tx) => {
    await lockLog(tx, orgId);
    const log = await readTransparencyLog(tx, orgId);
    if (!log) return null;
    let last: Appended | null = null;
    for (const { envelope } of (await readSuccessions(tx)).filter(({ at }) => at > log.createdAt)) {
      const logged = loggedSuccession(envelope);
      const { old } = parseSuccessionStatement(Buffer.from(envelope.payload, 'base64'));
      const entry = leafEntry(logged, old.package);
      if (await hasStatement(tx, log, entry)) continue;
      last = await appendLeaf(tx, log, { entry, packageId: null, envelope: canonicalJson(logged) });
    }
    return last;
  });
  if (appended) await writeMark(keysDir, orgId, appended);
}

/** Appends in one transaction. The mark is written after the commit and before a checkpoint is signed, so that it is never ahead of the log or behind a checkpoint. */
export async function appendMarked(db: Database, keysDir: string, log: LogState, append: (tx: TenantTx) => Promise<Appended>): Promise<Appended> {
  const { orgId } = log;
  const appended = await db.withTenant({ orgId }, async (tx) => {
    const leaf = await append(tx);
    const rewind = await rewindOf(tx, { ...log, size: leaf.index }, keysDir);
    if (rewind !== null) throw new LogRestarted('the transparency log is older than its mark');
    return leaf;
  });
  await writeMark(keysDir, orgId, appended);
  return appended;
}

/** Ends the current epoch if the database is older than the marks, or if the marks are gone. Returns the reason. */
async function endIfRewound(db: Database, keysDir: string, orgId: string): Promise<LogEnding['reason'] | null> {
  return db.withTenant({ orgId }, async (tx) => {
    await lockLog(tx, orgId);
    const log = await readTransparencyLog(tx, orgId);
    if (!log || log.ending !== null) return null;
    const reason = await rewindOf(tx, log, keysDir);
    if (reason !== null) await tx.insertInto('log_endings').values({ org_id: orgId, epoch: log.epoch, reason }).execute();
    return reason;
  });
}

/** A witness has seen another log, so this epoch must not grow any more. */
export async function endContradicted(db: Database, { orgId, epoch }: LogRef, { witness, size }: Contradiction): Promise<void> {
  const ending = { org_id: orgId, epoch, reason: 'rewound' as const, witness, witnessed_size: size === null ? null : String(size) };
  await db.withTenant({ orgId }, async (tx) => {
    await lockLog(tx, orgId);
    await tx
      .insertInto('log_endings')
      .values(ending)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
}

/**
 * Compares the log with the marks in this copy of the key folder. Hold the lock of the log, so that no other process adds a leaf and a mark in between.
 * A log without a mark was started by a process with another copy of the folder, unless this copy has no marks at all.
 */
async function rewindOf(tx: TenantTx, log: LogState, keysDir: string): Promise<'rewound' | 'mark_lost' | null> {
  const marks = await readMarks(keysDir, log.orgId);
  if (highestEpoch(marks) > log.epoch) return 'rewound';
  const mark = marks.get(log.origin);
  if (mark === undefined) {
    // Without a checkpoint, nobody has seen this tree: the process stopped between the first leaf and its mark.
    return (await marksAreLost(keysDir)) && (await latestCheckpoint(tx, log)) !== null ? 'mark_lost' : null;
  }
  if (mark.size > log.size) return 'rewound';
  const { root } = await proveConsistency(tx, log, 0, mark.size);
  return toHex(root) === mark.root ? null : 'rewound';
}

/** Called when a process that can append starts. Returns the organizations whose log will continue in a new epoch. */
export async function endRewoundLogs(
  db: Database,
  keysDir: string,
  witnesses: readonly Witness[] = [],
): Promise<{ orgId: string; reason: LogEnding['reason'] }[]> {
  const organizations = await db.withSystem((tx) => tx.selectFrom('log_epochs').select('org_id').distinct().execute());
  if (organizations.length === 0) await expectNoMarks(keysDir);
  const ended: { orgId: string; reason: LogEnding['reason'] }[] = [];
  let asked = witnesses;
  for (const { org_id: orgId } of organizations) {
    const reason = await endIfRewound(db, keysDir, orgId);
    if (reason !== null) ended.push({ orgId, reason });
    const checkpoint = reason === null ? await readLatest(db, orgId) : null;
    if (checkpoint === null || asked.length === 0) continue;
    const answers = await cosign({ db, witnesses: asked }, checkpoint.log, checkpoint);
    // Asks no witness twice that does not answer, so that the start does not take a time-out for each organization.
    asked = asked.filter(({ name }) => !answers.some(({ witness, outcome }) => witness === name && outcome === 'missing'));
    const contradiction = contradictionIn(answers);
    if (contradiction === null) continue;
    await endContradicted(db, checkpoint.log, contradiction);
    ended.push({ orgId, reason: 'rewound' });
  }
  return ended;
}

/** The latest checkpoint of an epoch that can grow. */
function readLatest(db: Database, orgId: string) {
  return db.withTenant({ orgId }, async (tx) => {
    const log = await readTransparencyLog(tx, orgId);
    const checkpoint = log === null || log.ending !== null ? null : await latestCheckpoint(tx, log);
    return log === null || checkpoint === null ? null : { ...checkpoint, log };
  });
}
