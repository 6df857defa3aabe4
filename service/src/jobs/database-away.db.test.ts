import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../db/database.ts';
import { eventually } from '../testing/eventually.ts';
import { createCuttableDatabase } from '../testing/fakes/postgres-proxy.ts';
import { useQueue } from '../testing/jobs.ts';
import { declareJob, enqueue, handle, type JobHandler } from './jobs.ts';
import { startWorker } from './worker.ts';

const queue = useQueue();

/** A worker on a database of its own, which can be cut off. */
async function workOnCuttable(handler: JobHandler) {
  const database = await createCuttableDatabase();
  const db = openDatabase({ url: database.url, poolSize: 2 });
  const worker = await startWorker({ url: database.url, db, handlers: [handler], concurrency: 1, log: { info: () => {}, error: () => {} } });
  onTestFinished(async () => {
    await worker.stop();
    await db.close();
    await database.drop();
  });
  const left = () =>
    db.systemQuery<{ last_error: string | null; locked_by: string | null }>('left_jobs', 'select last_error, locked_by from graphile_worker._private_jobs', []);
  return { database, db, left };
}

/** By itself, the queue tries again after two seconds or more. */
const SOON = { timeout: 1_500, interval: 20 };

describe('a worker whose database goes away', () => {
  it.each(['succeeds', 'fails'])('records how a job ended that %s meanwhile, when the database is back', async (end) => {
    const job = declareJob<{ n: number }>(`outlived_${end}`);
    const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let runs = 0;
    const handler = handle(job, async () => {
      runs++;
      started.resolve();
      await gate.promise;
      if (end === 'fails') throw new Error('failed while the database was away');
    });
    const { database, db, left } = await workOnCuttable(handler);
    await db.withSystem((tx) => enqueue(tx, job, { n: 1 }));
    await started.promise;
    await database.cut();
    await delay(100);
    // Without patience, the rejection that nobody handles would end the process.
    gate.resolve();
    await delay(300);
    await database.mend();
    await eventually(left).toEqual(end === 'succeeds' ? [] : [{ last_error: 'failed while the database was away', locked_by: null }]);
    // The failure may be one of the database that arrived as a message of another process.
    expect(runs).toBe(end === 'succeeds' ? 1 : 2);
  });

  it('runs an interrupted job again as soon as the database is back', async () => {
    const job = declareJob<{ n: number }>('interrupted');
    const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ends: string[] = [];
    const handler = handle(job, async (_payload, { db }) => {
      started.resolve();
      await gate.promise;
      await db
        .withSystem((tx) => sql`select`.execute(tx))
        .then(
          () => ends.push('done'),
          (error: unknown) => {
            ends.push('interrupted');
            throw error;
          },
        );
    });
    const { database, db, left } = await workOnCuttable(handler);
    await db.withSystem((tx) => enqueue(tx, job, { n: 1 }));
    await started.promise;
    await database.cut();
    gate.resolve();
    await expect.poll(() => ends, SOON).toEqual(['interrupted']);
    await delay(300);
    await database.mend();
    await expect.poll(() => ends, SOON).toEqual(['interrupted', 'done']);
    await expect.poll(left, SOON).toEqual([]);
  });

  it('learns of new jobs as soon as the database is back', async () => {
    const job = declareJob<{ n: number }>('new_job');
    let runs = 0;
    const handler = handle(job, async () => void runs++);
    const { database, db } = await workOnCuttable(handler);
    await database.cut();
    // By itself, the queue would now wait for some seconds before it listens again.
    await delay(1_700);
    await database.mend();
    await delay(300);
    // By itself, a loop of the queue looks for jobs every two seconds.
    const began = performance.now();
    for (let n = 1; n <= 5; n++) {
      await db.withSystem((tx) => enqueue(tx, job, { n }));
      await eventually(() => runs).toBe(n);
    }
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it('marks a job as done at once if the connection broke meanwhile', async () => {
    const job = declareJob<{ n: number }>('marked');
    const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const handler = handle(job, async () => {
      started.resolve();
      await gate.promise;
    });
    await queue.work([handler]);
    await queue.db().withTenant(queue.tenant, (tx) => enqueue(tx, job, { n: 1 }));
    await started.promise;
    const admin = queue.admin();
    await admin.query('begin');
    onTestFinished(async () => void (await admin.query('rollback')));
    await admin.query('select from graphile_worker._private_jobs for update');
    gate.resolve();
    const blocked = async () => {
      await admin.query('select pg_stat_clear_snapshot()');
      return (await admin.query<{ pid: number }>(`select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)).rows;
    };
    await eventually(blocked).toHaveLength(1);
    await admin.query('select pg_terminate_backend($1)', [(await blocked())[0]?.pid]);
    await admin.query('rollback');
    await expect.poll(() => queue.jobs('marked'), { timeout: 1_200, interval: 20 }).toEqual([]);
  });
});
