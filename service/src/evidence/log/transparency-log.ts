import {
  consistencyProof,
  inclusionProof,
  type Lookup,
  leafHash,
  type NodeId,
  nodesAfterAppend,
  nodesForAppend,
  nodesForConsistency,
  nodesForInclusion,
  nodesForRoot,
  rootFrom,
  type TreeNode,
  utf8,
} from '@rrs/evidence-format';
import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';

/** One tree: an epoch of the transparency log of an organization. Leaves, nodes and checkpoints are only ever added. */
export interface LogRef {
  orgId: string;
  epoch: number;
}

export interface NewLeaf {
  entry: string;
  /** Null for a statement about the log itself, whose envelope is kept instead. */
  packageId: string | null;
  envelope?: string;
}

export interface Appended {
  origin: string;
  index: number;
  size: number;
  root: Buffer;
}

/** The epoch has ended, or another one has started. The caller opens the log again. */
export class LogRestarted extends Error {}

/** Serializes appends until the end of the transaction, so that no index is skipped or used twice. */
export async function lockLog(tx: TenantTx, orgId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`log ${orgId}`}, 0))`.execute(tx);
}

export async function appendLeaf(tx: TenantTx, log: LogRef, leaf: NewLeaf): Promise<Appended> {
  await lockLog(tx, log.orgId);
  // A separate statement after the lock, so that it sees what the previous holder committed.
  const current = await readTransparencyLog(tx, log.orgId);
  if (current?.epoch !== log.epoch || current.ending !== null) throw new LogRestarted(`epoch ${log.epoch} of the transparency log has ended`);
  const { origin, size: index } = current;
  const size = index + 1;
  const known = await fetchNodes(tx, log, [...nodesForAppend(index), ...nodesForRoot(size)]);
  const hash = leafHash(utf8(leaf.entry));
  const nodes = nodesAfterAppend(index, hash, lookupIn(known));
  for (const node of nodes) known.set(keyOf(node), node.hash);
  const root = Buffer.from(rootFrom(size, lookupIn(known)));
  await insertLeaf(tx, log, { ...leaf, index, hash, nodes });
  return { origin, index, size, root };
}

interface PlacedLeaf extends NewLeaf {
  index: number;
  hash: Uint8Array;
  nodes: TreeNode[];
}

async function insertLeaf(tx: TenantTx, { orgId, epoch }: LogRef, { packageId, entry, envelope, index, hash, nodes }: PlacedLeaf) {
  await sql`
    with added as (
      insert into log_leaves (org_id, epoch, index, entry, leaf_hash, package_id, envelope)
      values (${orgId}, ${epoch}, ${index}, ${entry}, ${Buffer.from(hash)}, ${packageId}, ${envelope ?? null})
    )
    insert into log_nodes (org_id, epoch, level, index, hash)
    select ${orgId}::uuid, ${epoch}::int, node.level, node.index, node.hash
    from unnest(${nodes.map(({ level }) => level)}::smallint[], ${nodes.map((node) => node.index)}::bigint[], ${nodes.map((node) => Buffer.from(node.hash))}::bytea[])
      as node (level, index, hash)`.execute(tx);
}

export interface LogEnding {
  reason: 'restore' | 'mark_lost' | 'rewound';
  backup: { created_at: string; sha256: string } | null;
  /** The witness that contradicts the database, and the size that it has seen, if that is larger. */
  witness: string | null;
  witnessed_size: number | null;
}

export interface LogState extends LogRef {
  origin: string;
  size: number;
  createdAt: Date;
  /** Why the epoch has ended, or null while it can grow. */
  ending: LogEnding | null;
}

/** Returns one epoch, by default the latest, or `null` if there is none. */
export async function readTransparencyLog(tx: TenantTx, orgId: string, epoch?: number): Promise<LogState | null> {
  const { rows } = await sql<{ epoch: number; origin: string; created_at: Date; size: string; ending: LogEnding | null }>`
    select e.epoch, e.origin, e.created_at,
      (select coalesce(max(index) + 1, 0) from log_leaves where org_id = ${orgId} and epoch = e.epoch) as size,
      (select jsonb_build_object('reason', reason, 'backup', backup, 'witness', witness, 'witnessed_size', witnessed_size) from log_endings where org_id = ${orgId} and epoch = e.epoch) as ending
    from log_epochs e where e.org_id = ${orgId} and e.epoch = coalesce(${epoch ?? null}::int, e.epoch)
    order by e.epoch desc limit 1`.execute(tx);
  const [row] = rows;
  return row ? { orgId, epoch: row.epoch, origin: row.origin, size: Number(row.size), createdAt: row.created_at, ending: row.ending } : null;
}

const keyOf = ({ level, index }: NodeId): string => `${level}/${index}`;

type Nodes = Map<string, Uint8Array>;

async function fetchNodes(tx: TenantTx, { orgId, epoch }: LogRef, wanted: readonly NodeId[]): Promise<Nodes> {
  if (wanted.length === 0) return new Map();
  const { rows } = await sql<{ level: number; index: string; hash: Buffer }>`
    select node.level, node.index, node.hash
    from unnest(${wanted.map(({ level }) => level)}::smallint[], ${wanted.map(({ index }) => index)}::bigint[]) as wanted (level, index)
    join log_nodes node on node.org_id = ${orgId} and node.epoch = ${epoch} and node.level = wanted.level and node.index = wanted.index`.execute(tx);
  return new Map(rows.map(({ level, index, hash }) => [keyOf({ level, index: Number(index) }), hash]));
}

function lookupIn(nodes: Nodes): Lookup {
  return (node) => {
    const hash = nodes.get(keyOf(node));
    if (!hash) throw new Error(`the transparency log has no node ${keyOf(node)}`);
    return hash;
  };
}

export interface Proof {
  root: Uint8Array;
  hashes: Uint8Array[];
}

/** Proves that the leaf is in the tree of the given size. The log must have at least that many leaves. */
export async function proveInclusion(tx: TenantTx, log: LogRef, index: number, size: number): Promise<Proof & { leafHash: Uint8Array }> {
  const leaf = { level: 0, index };
  const lookup = lookupIn(await fetchNodes(tx, log, [leaf, ...nodesForInclusion(index, size), ...nodesForRoot(size)]));
  return { leafHash: lookup(leaf), root: rootFrom(size, lookup), hashes: inclusionProof(index, size, lookup) };
}

/** Proves that the tree of size `to` extends the tree of size `from`. The log must have at least that many leaves. */
export async function proveConsistency(tx: TenantTx, log: LogRef, from: number, to: number): Promise<Proof & { oldRoot: Uint8Array }> {
  const lookup = lookupIn(await fetchNodes(tx, log, [...nodesForConsistency(from, to), ...nodesForRoot(from), ...nodesForRoot(to)]));
  return { oldRoot: rootFrom(from, lookup), root: rootFrom(to, lookup), hashes: consistencyProof(from, to, lookup) };
}

/** The hashes of the first leaves, in order. */
export async function readLeafHashes(tx: TenantTx, { orgId, epoch }: LogRef, size: number): Promise<Buffer[]> {
  const rows = await tx
    .selectFrom('log_nodes')
    .select('hash')
    .where('org_id', '=', orgId)
    .where('epoch', '=', epoch)
    .where('level', '=', 0)
    .where('index', '<', String(size))
    .orderBy('index')
    .execute();
  return rows.map(({ hash }) => hash);
}

const leaves = (tx: TenantTx, orgId: string) =>
  tx
    .selectFrom('log_leaves as leaf')
    .leftJoin('log_publications as publication', (join) =>
      join.onRef('publication.org_id', '=', 'leaf.org_id').onRef('publication.epoch', '=', 'leaf.epoch').onRef('publication.index', '=', 'leaf.index'),
    )
    .select(['leaf.epoch', 'leaf.index', 'leaf.entry', 'leaf.leaf_hash', 'leaf.package_id', 'leaf.envelope', 'leaf.appended_at', 'publication.published_at'])
    .where('leaf.org_id', '=', orgId);

export async function readLeaf(tx: TenantTx, { orgId, epoch }: LogRef, index: number) {
  const row = await leaves(tx, orgId).where('leaf.epoch', '=', epoch).where('leaf.index', '=', String(index)).executeTakeFirst();
  return row ? { ...row, index } : null;
}

/** Whether the log contains this statement. There are only a few statements in a log. */
export async function hasStatement(tx: TenantTx, { orgId, epoch }: LogRef, entry: string): Promise<boolean> {
  const row = await tx
    .selectFrom('log_leaves')
    .select('index')
    .where('org_id', '=', orgId)
    .where('epoch', '=', epoch)
    .where('package_id', 'is', null)
    .where('entry', '=', entry)
    .executeTakeFirst();
  return row !== undefined;
}

/** Leaves without `published_at` were left by interrupted attempts. The published package lists them. */
export async function leavesOfPackage(tx: TenantTx, orgId: string, packageId: string) {
  const rows = await leaves(tx, orgId).where('leaf.package_id', '=', packageId).orderBy('leaf.epoch').orderBy('leaf.index').execute();
  return rows.map((row) => ({ ...row, index: Number(row.index) }));
}

/** Called in the transaction that publishes the package. */
export async function publishLeaf(tx: TenantTx, { orgId, epoch }: LogRef, index: number): Promise<void> {
  await tx
    .insertInto('log_publications')
    .values({ org_id: orgId, epoch, index: String(index) })
    .execute();
}

export interface SignedCheckpoint {
  size: number;
  root: Uint8Array;
  /** C2SP signed note, signed with Ed25519. */
  note: string;
  /** The same tree in the format of Rekor, signed with ECDSA P-256. */
  rekorNote: string;
}

/** The checkpoint was signed outside the transaction. If two are recorded for one size, the first is kept: both state the same. */
export async function recordCheckpoint(tx: TenantTx, log: LogRef, { size, root, note, rekorNote }: SignedCheckpoint): Promise<void> {
  const state = await readTransparencyLog(tx, log.orgId, log.epoch);
  if (!state || state.size < size) throw new Error(`the checkpoint has ${size} leaves, but the transparency log has ${state?.size ?? 0}`);
  const { root: actual } = await proveConsistency(tx, log, 0, size);
  if (!Buffer.from(root).equals(actual)) throw new Error(`the root of the checkpoint for ${size} leaves differs from the root of the transparency log`);
  await tx
    .insertInto('log_checkpoints')
    .values({ org_id: log.orgId, epoch: log.epoch, size: String(size), root: Buffer.from(root), note, rekor_note: rekorNote })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The latest checkpoint, or the latest one for a tree smaller than `below`. */
export async function latestCheckpoint(tx: TenantTx, { orgId, epoch }: LogRef, { below }: { below?: number } = {}) {
  let query = tx.selectFrom('log_checkpoints').selectAll().where('org_id', '=', orgId).where('epoch', '=', epoch);
  if (below !== undefined) query = query.where('size', '<', String(below));
  const row = await query.orderBy('size', 'desc').limit(1).executeTakeFirst();
  return row ? { ...row, size: Number(row.size) } : null;
}
