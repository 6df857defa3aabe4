import { leafHash, rootFromLeaves, utf8, verifyConsistency, verifyInclusion } from '@rrs/evidence-format';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../../db/connection/with-client.ts';
import { type Database, openDatabase, type TenantTx } from '../../db/database.ts';
import { newId } from '../../shared/ids.ts';
import { startLog } from '../../testing/evidence/evidence.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import {
  appendLeaf,
  LogRestarted,
  latestCheckpoint,
  leavesOfPackage,
  proveConsistency,
  proveInclusion,
  publishLeaf,
  readLeaf,
  readTransparencyLog,
  recordCheckpoint,
} from './transparency-log.ts';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.url, poolSize: 20 });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

async function newOrganization(): Promise<string> {
  const id = newId();
  await db.withSystem((tx) => tx.insertInto('organizations').values({ id, slug: id, name: id }).execute());
  return id;
}

const within = <T>(orgId: string, work: (tx: TenantTx) => Promise<T>): Promise<T> => db.withTenant({ orgId }, work);
const append = (orgId: string, entry: string, packageId = newId()) =>
  within(orgId, async (tx) => appendLeaf(tx, await startLog(tx, orgId, `test/orgs/${orgId}`), { packageId, entry }));
const logOf = (orgId: string) => ({ orgId, epoch: 1 });
const hashOf = (entry: string): Uint8Array => leafHash(utf8(entry));

describe('the transparency log', () => {
  it('is the RFC 6962 tree of its entries, with valid inclusion and consistency proofs', async () => {
    const orgId = await newOrganization();
    const hashes: Uint8Array[] = [];
    const roots: Uint8Array[] = [rootFromLeaves([])];
    for (let index = 0; index < 40; index++) {
      const appended = await append(orgId, `entry ${index}`);
      hashes.push(hashOf(`entry ${index}`));
      roots.push(rootFromLeaves(hashes));
      expect(appended).toEqual({ origin: `test/orgs/${orgId}`, index, size: index + 1, root: Buffer.from(roots[index + 1] ?? []) });
    }
    await within(orgId, async (tx) => {
      for (let size = 1; size <= 40; size++) {
        for (const index of [0, size >> 1, size - 1]) {
          const { leafHash: leaf, root, hashes: proof } = await proveInclusion(tx, logOf(orgId), index, size);
          expect(verifyInclusion({ index, size, leafHash: leaf, proof, root: roots[size] ?? root })).toBe(true);
          expect(Buffer.from(leaf).equals(hashes[index] ?? leaf.slice(1))).toBe(true);
        }
        for (let oldSize = 0; oldSize <= size; oldSize += 3) {
          const { oldRoot, root, hashes: proof } = await proveConsistency(tx, logOf(orgId), oldSize, size);
          expect([Buffer.from(oldRoot), Buffer.from(root)]).toEqual([oldSize, size].map((at) => Buffer.from(roots[at] ?? [])));
          expect(verifyConsistency({ oldSize, oldRoot, size, root, proof })).toBe(true);
        }
      }
    });
  });

  it('assigns consecutive indexes per organization to fifty concurrent appends', async () => {
    const organizations = [await newOrganization(), await newOrganization()];
    const appended = await Promise.all(organizations.flatMap((orgId) => Array.from({ length: 50 }, (_, number) => append(orgId, `${orgId} ${number}`))));
    for (const [at, orgId] of organizations.entries()) {
      const own = appended.slice(at * 50, at * 50 + 50);
      expect(own.map(({ index }) => index).sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index));
      const entries = await within(orgId, (tx) => tx.selectFrom('log_leaves').select('entry').where('org_id', '=', orgId).orderBy('index').execute());
      for (const { size, root } of own) expect(root.equals(rootFromLeaves(entries.slice(0, size).map(({ entry }) => hashOf(entry))))).toBe(true);
    }
  });

  it('reuses the index of an append that was rolled back', async () => {
    const orgId = await newOrganization();
    await append(orgId, 'first');
    const broken = within(orgId, async (tx) => {
      await appendLeaf(tx, logOf(orgId), { packageId: newId(), entry: 'undone' });
      throw new Error('undone');
    });
    await expect(broken).rejects.toThrow('undone');
    expect(await append(orgId, 'second')).toMatchObject({ index: 1, root: Buffer.from(rootFromLeaves([hashOf('first'), hashOf('second')])) });
  });

  it('accepts no leaf after its epoch has ended', async () => {
    const orgId = await newOrganization();
    expect(await within(orgId, (tx) => readTransparencyLog(tx, orgId))).toBeNull();
    await append(orgId, 'a');
    await within(orgId, (tx) => tx.insertInto('log_endings').values({ org_id: orgId, epoch: 1, reason: 'restore' }).execute());
    await expect(append(orgId, 'b')).rejects.toThrow(LogRestarted);
    expect(await within(orgId, (tx) => readTransparencyLog(tx, orgId))).toMatchObject({ epoch: 1, size: 1, ending: { reason: 'restore', backup: null } });
  });

  it('is invisible to another organization', async () => {
    const [theirs, ours] = [await newOrganization(), await newOrganization()];
    await append(theirs, 'theirs');
    await within(ours, async (tx) => {
      expect(await readTransparencyLog(tx, theirs)).toBeNull();
      expect(await readLeaf(tx, logOf(theirs), 0)).toBeNull();
      await expect(proveInclusion(tx, logOf(theirs), 0, 1)).rejects.toThrow('no node');
    });
    await expect(within(ours, (tx) => appendLeaf(tx, logOf(theirs), { packageId: newId(), entry: 'forged' }))).rejects.toThrow(LogRestarted);
  });
});

describe('an interrupted attempt', () => {
  it('leaves an unpublished leaf next to the published one', async () => {
    const [orgId, packageId] = [await newOrganization(), newId()];
    await append(orgId, 'interrupted', packageId);
    await append(orgId, 'of another package');
    const { index } = await append(orgId, 'done', packageId);
    await within(orgId, (tx) => publishLeaf(tx, logOf(orgId), index));
    expect(await within(orgId, (tx) => leavesOfPackage(tx, orgId, packageId))).toMatchObject([
      { index: 0, entry: 'interrupted', published_at: null },
      { index: 2, entry: 'done', published_at: expect.any(Date) },
    ]);
    expect(await within(orgId, (tx) => readLeaf(tx, logOf(orgId), 2))).toMatchObject({ package_id: packageId, published_at: expect.any(Date) });
  });
});

describe('checkpoints', () => {
  const signed = (size: number, root: Uint8Array) => ({ size, root, note: `note ${size}`, rekorNote: `rekor ${size}` });

  it('must match the tree; the first one per size is kept', async () => {
    const orgId = await newOrganization();
    const [one, two, three] = [await append(orgId, 'a'), await append(orgId, 'b'), await append(orgId, 'c')];
    await within(orgId, async (tx) => {
      expect(await latestCheckpoint(tx, logOf(orgId))).toBeNull();
      for (const { size, root } of [three, one]) await recordCheckpoint(tx, logOf(orgId), signed(size, root));
      await recordCheckpoint(tx, logOf(orgId), { ...signed(3, three.root), note: 'again' });
      expect(await latestCheckpoint(tx, logOf(orgId))).toMatchObject({ size: 3, note: 'note 3', rekor_note: 'rekor 3' });
      expect(await latestCheckpoint(tx, logOf(orgId), { below: 3 })).toMatchObject({ size: 1, note: 'note 1' });
    });
    await expect(within(orgId, (tx) => recordCheckpoint(tx, logOf(orgId), signed(2, three.root)))).rejects.toThrow('differs from the root');
    await expect(within(orgId, (tx) => recordCheckpoint(tx, logOf(orgId), signed(4, two.root)))).rejects.toThrow('but the transparency log has 3');
  });
});

describe('a million entries', () => {
  const SIZE = 1_000_003;
  let orgId: string;

  beforeAll(async () => {
    orgId = await newOrganization();
    await within(orgId, (tx) => startLog(tx, orgId));
    await withClient(database.url, async (client) => {
      // Inserts rows in bulk without foreign key triggers, because a million calls of appendLeaf would take almost an hour.
      await client.query('set session_replication_role = replica; set search_path = rrs');
      await client.query(
        `insert into log_nodes select $1, 1, 0, n, sha256('\\x00'::bytea || convert_to('entry ' || n, 'UTF8')) from generate_series(0, $2::bigint - 1) n`,
        [orgId, SIZE],
      );
      for (let level = 0, width = SIZE; width > 1; level++, width = Math.floor(width / 2)) {
        await client.query(
          `insert into log_nodes select $1, 1, $2::smallint + 1, index / 2, sha256('\\x01'::bytea || hash || next)
           from (select index, hash, lead(hash) over (order by index) as next from log_nodes where org_id = $1 and level = $2) pairs
           where index % 2 = 0 and next is not null`,
          [orgId, level],
        );
      }
      await client.query(`insert into log_leaves (org_id, epoch, index, entry, leaf_hash, package_id) values ($1, 1, $2, 'last', sha256(''), $1)`, [
        orgId,
        SIZE - 1,
      ]);
      await client.query('analyze log_nodes, log_leaves');
    });
  }, 300_000);

  it('need only a few dozen hashes for a proof or an append', async () => {
    const measured = await within(orgId, async (tx) => {
      const read = async () => {
        const { rows } = await sql<{ seq: number; rows: number }>`
          select seq_scan::int as seq, (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where relname = 'log_nodes'`.execute(tx);
        return rows[0] ?? { seq: 0, rows: 0 };
      };
      const steps: { what: string; rows: number; ms: number }[] = [];
      const measure = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
        const [before, start] = [await read(), performance.now()];
        const result = await work();
        const ms = Math.round((performance.now() - start) * 10) / 10;
        const after = await read();
        expect(after.seq, what).toBe(before.seq);
        steps.push({ what, rows: after.rows - before.rows, ms });
        return result;
      };
      for (const index of [0, 1, 524_287, 777_777, SIZE - 1]) {
        const { leafHash: leaf, root, hashes } = await measure(`inclusion of ${index}`, () => proveInclusion(tx, logOf(orgId), index, SIZE));
        expect(verifyInclusion({ index, size: SIZE, leafHash: leaf, proof: hashes, root })).toBe(true);
        expect(Buffer.from(leaf).equals(hashOf(`entry ${index}`))).toBe(true);
      }
      for (const oldSize of [1, 524_288, 777_777]) {
        const { oldRoot, root, hashes } = await measure(`consistency from ${oldSize}`, () => proveConsistency(tx, logOf(orgId), oldSize, SIZE));
        expect(verifyConsistency({ oldSize, oldRoot, size: SIZE, root, proof: hashes })).toBe(true);
      }
      const { root, size } = await measure('append', () => appendLeaf(tx, logOf(orgId), { packageId: newId(), entry: 'one more' }));
      expect(root.equals((await proveConsistency(tx, logOf(orgId), SIZE, size)).root)).toBe(true);
      return steps;
    });
    process.stdout.write(`${measured.map(({ what, rows, ms }) => `${what}: ${rows} rows, ${ms} ms`).join('; ')}\n`);
    expect(Math.max(...measured.map(({ rows }) => rows))).toBeLessThan(100);
  });
});
