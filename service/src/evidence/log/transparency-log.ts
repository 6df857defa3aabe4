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

/** The transparency log of an organization is an RFC 6962 tree. Leaves, nodes and checkpoints are only ever added. */
export interface NewLeaf {
  /** Used for the first leaf only: the log keeps its first name. */
  origin: string;
  packageId: string;
  entry: string;
}

export interface Appended {
  origin: string;
  index: number;
  size: number;
  root: Buffer;
}

/** A lock per organization serializes appends until the end of the transaction, so that no index is skipped or used twice. */
export async function appendLeaf(tx: TenantTx, orgId: string, { origin, packageId, entry }: NewLeaf): Promise<Appended> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`log ${orgId}`}, 0))`.execute(tx);
  // A separate statement after the lock, so that it sees what the previous holder committed.
  const log = await readTransparencyLog(tx, orgId);
  const index = log?.size ?? 0;
  const size = index + 1;
  const known = await fetchNodes(tx, orgId, [...nodesForAppend(index), ...nodesForRoot(size)]);
  const leaf = leafHash(utf8(entry));
  const nodes = nodesAfterAppend(index, leaf, lookupIn(known));
  for (const node of nodes) known.set(keyOf(node), node.hash);
  const root = Buffer.from(rootFrom(size, lookupIn(known)));
  await insertLeaf(tx, orgId, { origin, packageId, entry, index, leaf, nodes });
  return { origin: log?.origin ?? origin, index, size, root };
}

async function insertLeaf(
  tx: TenantTx,
  orgId: string,
  { origin, packageId, entry, index, leaf, nodes }: NewLeaf & { index: number; leaf: Uint8Array; nodes: TreeNode[] },
) {
  await sql`
    with named as (insert into log_origins (org_id, origin) values (${orgId}, ${origin}) on conflict do nothing),
      added as (
        insert into log_leaves (org_id, index, entry, leaf_hash, package_id)
        values (${orgId}, ${index}, ${entry}, ${Buffer.from(leaf)}, ${packageId})
      )
    insert into log_nodes (org_id, level, index, hash)
    select ${orgId}::uuid, node.level, node.index, node.hash
    from unnest(${nodes.map(({ level }) => level)}::smallint[], ${nodes.map((node) => node.index)}::bigint[], ${nodes.map(({ hash }) => Buffer.from(hash))}::bytea[])
      as node (level, index, hash)`.execute(tx);
}

/** Returns `null` if nothing was appended yet. */
export async function readTransparencyLog(tx: TenantTx, orgId: string): Promise<{ origin: string; size: number } | null> {
  const { rows } = await sql<{ origin: string; size: string }>`
    select origin, (select coalesce(max(index) + 1, 0) from log_leaves where org_id = ${orgId}) as size from log_origins where org_id = ${orgId}`.execute(tx);
  const [row] = rows;
  return row ? { origin: row.origin, size: Number(row.size) } : null;
}

const keyOf = ({ level, index }: NodeId): string => `${level}/${index}`;

type Nodes = Map<string, Uint8Array>;

async function fetchNodes(tx: TenantTx, orgId: string, wanted: readonly NodeId[]): Promise<Nodes> {
  if (wanted.length === 0) return new Map();
  const { rows } = await sql<{ level: number; index: string; hash: Buffer }>`
    select node.level, node.index, node.hash
    from unnest(${wanted.map(({ level }) => level)}::smallint[], ${wanted.map(({ index }) => index)}::bigint[]) as wanted (level, index)
    join log_nodes node on node.org_id = ${orgId} and node.level = wanted.level and node.index = wanted.index`.execute(tx);
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
export async function proveInclusion(tx: TenantTx, orgId: string, index: number, size: number): Promise<Proof & { leafHash: Uint8Array }> {
  const leaf = { level: 0, index };
  const lookup = lookupIn(await fetchNodes(tx, orgId, [leaf, ...nodesForInclusion(index, size), ...nodesForRoot(size)]));
  return { leafHash: lookup(leaf), root: rootFrom(size, lookup), hashes: inclusionProof(index, size, lookup) };
}

/** Proves that the tree of size `to` extends the tree of size `from`. The log must have at least that many leaves. */
export async function proveConsistency(tx: TenantTx, orgId: string, from: number, to: number): Promise<Proof & { oldRoot: Uint8Array }> {
  const lookup = lookupIn(await fetchNodes(tx, orgId, [...nodesForConsistency(from, to), ...nodesForRoot(from), ...nodesForRoot(to)]));
  return { oldRoot: rootFrom(from, lookup), root: rootFrom(to, lookup), hashes: consistencyProof(from, to, lookup) };
}

const leaves = (tx: TenantTx, orgId: string) =>
  tx
    .selectFrom('log_leaves as leaf')
    .leftJoin('log_publications as publication', (join) => join.onRef('publication.org_id', '=', 'leaf.org_id').onRef('publication.index', '=', 'leaf.index'))
    .select(['leaf.index', 'leaf.entry', 'leaf.leaf_hash', 'leaf.package_id', 'leaf.appended_at', 'publication.published_at'])
    .where('leaf.org_id', '=', orgId);

export async function readLeaf(tx: TenantTx, orgId: string, index: number) {
  const row = await leaves(tx, orgId).where('leaf.index', '=', String(index)).executeTakeFirst();
  return row ? { ...row, index } : null;
}

/** Leaves without `published_at` were left by interrupted attempts. The published package lists them. */
export async function leavesOfPackage(tx: TenantTx, orgId: string, packageId: string) {
  const rows = await leaves(tx, orgId).where('leaf.package_id', '=', packageId).orderBy('leaf.index').execute();
  return rows.map((row) => ({ ...row, index: Number(row.index) }));
}

/** Called in the transaction that publishes the package. */
export async function publishLeaf(tx: TenantTx, orgId: string, index: number): Promise<void> {
  await tx
    .insertInto('log_publications')
    .values({ org_id: orgId, index: String(index) })
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
export async function recordCheckpoint(tx: TenantTx, orgId: string, { size, root, note, rekorNote }: SignedCheckpoint): Promise<void> {
  const log = await readTransparencyLog(tx, orgId);
  if (!log || log.size < size) throw new Error(`the checkpoint has ${size} leaves, but the transparency log has ${log?.size ?? 0}`);
  const { root: actual } = await proveConsistency(tx, orgId, 0, size);
  if (!Buffer.from(root).equals(actual)) throw new Error(`the root of the checkpoint for ${size} leaves differs from the root of the transparency log`);
  await tx
    .insertInto('log_checkpoints')
    .values({ org_id: orgId, size: String(size), root: Buffer.from(root), note, rekor_note: rekorNote })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The latest checkpoint, or the latest one for a tree smaller than `below`. */
export async function latestCheckpoint(tx: TenantTx, orgId: string, { below }: { below?: number } = {}) {
  let query = tx.selectFrom('log_checkpoints').selectAll().where('org_id', '=', orgId);
  if (below !== undefined) query = query.where('size', '<', String(below));
  const row = await query.orderBy('size', 'desc').limit(1).executeTakeFirst();
  return row ? { ...row, size: Number(row.size) } : null;
}
