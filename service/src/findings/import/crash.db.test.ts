import { beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../db/database.ts';
import { type Item, image, seen, useImports } from '../../testing/findings/imports.ts';

const engine = useImports();
let org: string;
beforeEach(async () => {
  org = await engine.organization();
});

const scope = { coverage: 'complete', asset: image, started_at: '2026-01-02T00:00:00Z' } as const;
const first = ['a', 'b', 'c'].map((component) => seen({ location: { component } }));
const second: Item[] = [seen({ location: { component: 'a' }, title: 'changed' }), seen({ location: { component: 'd' } })];
const known = { scope: { started_at: '2026-01-01T00:00:00Z' } };

/** A database for a worker that dies at its n-th transaction, before or after the commit. */
function dyingAt(nth: number, when: 'before' | 'after'): { db: Database; died: () => boolean } {
  const db = engine.db();
  let transactions = 0;
  const withTenant: Database['withTenant'] = async (tenant, work) => {
    if (++transactions !== nth) return db.withTenant(tenant, work);
    await db.withTenant(tenant, async (tx) => {
      await work(tx);
      if (when === 'before') throw new Error('the worker dies');
    });
    throw new Error('the worker dies');
  };
  return { db: { ...db, withTenant }, died: () => transactions >= nth };
}

async function countIn(...tables: string[]): Promise<number[]> {
  const counts: number[] = [];
  for (const table of tables) counts.push((await engine.admin().query(`select from ${table} where org_id = $1`, [org])).rowCount ?? 0);
  return counts;
}
const staged = () => countIn('import_rows', 'import_assets', 'import_groups', 'import_seen');
const written = () => countIn('finding_history', 'events', 'audit_events');
const NOTHING = [0, 0, 0, 0];

describe('a worker that dies', () => {
  it('at any transaction leaves either nothing or everything, and the next attempt has the same result', async () => {
    const undisturbed = org;
    await engine.run(undisturbed, first, known);
    const result = await engine.run(undisturbed, second, { scope });
    const wanted = { state: await engine.stateOf(undisturbed), written: await written() };
    expect(result).toMatchObject({ received: 2, created: 1, updated: 1, closed: 2 });
    const { received, created, updated, unchanged, closed, status } = result;
    for (const when of ['before', 'after'] as const) {
      for (let nth = 1; ; nth++) {
        org = await engine.organization();
        await engine.run(org, first, known);
        const before = await engine.stateOf(org);
        const id = await engine.start(org, second, { scope });
        const worker = dyingAt(nth, when);
        await engine.attempt(org, id, { db: worker.db }).catch(() => {});
        expect([before, wanted.state]).toContainEqual(await engine.stateOf(org));
        await engine.attempt(org, id);
        expect(await engine.read(org, id)).toMatchObject({ received, created, updated, unchanged, closed, status });
        expect({ state: await engine.stateOf(org), written: await written() }).toEqual(wanted);
        expect(await staged()).toEqual(NOTHING);
        if (!worker.died()) break;
      }
    }
  });

  it('in the middle of the report leaves nothing', async () => {
    const many = Array.from({ length: 4_100 }, (_, index) => seen({ location: { component: `lib-${index}` } }));
    const id = await engine.start(org, [...many, null]);
    await expect(engine.attempt(org, id)).rejects.toThrow('lightning');
    expect(await engine.read(org, id)).toMatchObject({ status: 'running', created: 0 });
    expect(await engine.findings(org)).toEqual([]);
    expect(await staged()).toEqual(NOTHING);
    await engine.attempt(org, id, { lastAttempt: true });
    expect(await engine.read(org, id)).toMatchObject({ status: 'failed', created: 0, error: expect.stringContaining('internal error') });
    expect(await engine.findings(org)).toEqual([]);
  });

  it('because it is stopped leaves the import to another worker', async () => {
    const id = await engine.start(org, first);
    await expect(engine.attempt(org, id, { signal: AbortSignal.abort() })).rejects.toThrow();
    await engine.attempt(org, id);
    expect(await engine.read(org, id)).toMatchObject({ status: 'succeeded', created: 3 });
  });

  it('only apparently does not import twice', async () => {
    const id = await engine.start(org, first);
    for (let attempt = 0; attempt < 3; attempt++) await Promise.allSettled([engine.attempt(org, id), engine.attempt(org, id)]);
    await engine.attempt(org, id);
    expect(await engine.read(org, id)).toMatchObject({ status: 'succeeded', created: 3, received: 3 });
    const told = await engine.admin().query(`select type from events where org_id = $1 and type = 'import.succeeded'`, [org]);
    expect(told.rowCount).toBe(1);
    expect(await staged()).toEqual(NOTHING);
  });

  it('only apparently does not count known records twice', async () => {
    await engine.run(org, first, known);
    const id = await engine.start(org, first, { scope });
    for (let attempt = 0; attempt < 3; attempt++) await Promise.allSettled([engine.attempt(org, id), engine.attempt(org, id)]);
    await engine.attempt(org, id);
    expect(await engine.read(org, id)).toMatchObject({ status: 'succeeded', received: 3, created: 0, updated: 0, unchanged: 3, closed: 0 });
    expect(await staged()).toEqual(NOTHING);
  });

  it('only apparently, while another worker stages the same known records, does not change the result', async () => {
    await engine.run(org, first, known);
    const id = await engine.start(org, first, { scope });
    await engine
      .attempt(org, id, {}, (format) => ({
        ...format,
        async *read(...given) {
          yield* format.read(...given);
          await engine.attempt(org, id);
        },
      }))
      .catch(() => {});
    expect(await engine.read(org, id)).toMatchObject({ status: 'succeeded', received: 3, unchanged: 3, closed: 0 });
    expect(await staged()).toEqual(NOTHING);
  });

  it('only apparently, and fails later, does not change the result of the other worker', async () => {
    const id = await engine.start(org, first);
    await engine.attempt(org, id, { lastAttempt: true }, (format) => ({
      ...format,
      async *read() {
        await engine.attempt(org, id);
        yield* [];
        throw new Error('the first worker fails');
      },
    }));
    expect(await engine.read(org, id)).toMatchObject({ status: 'succeeded', created: 3, error: null });
    expect((await engine.admin().query(`select from events where org_id = $1 and type = 'import.failed'`, [org])).rowCount).toBe(0);
  });

  it('with a database that lost the staged records fails, and the next attempt succeeds', async () => {
    const db = engine.db();
    const losing: Database = {
      ...db,
      withCopyClient: async (work) => {
        const result = await db.withCopyClient(work);
        await engine.admin().query('truncate import_rows, import_assets');
        return result;
      },
    };
    const id = await engine.start(org, first);
    await expect(engine.attempt(org, id, { db: losing })).rejects.toThrow('0 of 3 records');
    await engine.attempt(org, id);
    expect(await engine.read(org, id)).toMatchObject({ status: 'succeeded', created: 3 });
  });
});
