import pg from 'pg';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '../db/database.ts';
import type { JobHandler } from '../jobs/jobs.ts';
import { startWorker, type Worker, type WorkerOptions } from '../jobs/worker.ts';
import { newId } from '../shared/ids.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';

interface JobRow {
  payload: unknown;
  attempts: number;
  last_error: string | null;
  locked_by: string | null;
  locked_for: number | null;
}

/** A database with one organization, and functions to run and inspect its queue. */
export function useQueue() {
  const tenant = { orgId: newId() };
  let testDatabase: TestDatabase;
  let db: Database;
  let admin: pg.Client;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    db = openDatabase({ url: testDatabase.url, poolSize: 4 });
    admin = new pg.Client({ connectionString: testDatabase.url });
    await admin.connect();
    await db.withSystem((tx) => tx.insertInto('organizations').values({ id: tenant.orgId, slug: 'ours', name: 'Ours' }).execute());
  });
  afterAll(async () => {
    await db?.close();
    await admin?.end();
    await testDatabase?.drop();
  });

  return {
    tenant,
    db: () => db,
    admin: () => admin,
    url: () => testDatabase.url,
    /** Starts a worker that stops when the test ends. */
    async work(handlers: readonly JobHandler[], options: Partial<WorkerOptions> = {}): Promise<Worker> {
      const worker = await startWorker({ url: testDatabase.url, db, handlers, concurrency: 2, log: { info: () => {}, error: () => {} }, ...options });
      let stopped: Promise<void> | undefined;
      const stop = (): Promise<void> => (stopped ??= worker.stop());
      onTestFinished(stop);
      return { id: worker.id, stop };
    },
    async jobs(task: string): Promise<JobRow[]> {
      const { rows } = await admin.query<JobRow>(
        `select job.payload, job.attempts, job.last_error, job.locked_by, extract(epoch from now() - job.locked_at)::float8 * 1000 as locked_for
         from graphile_worker._private_jobs job join graphile_worker._private_tasks task on task.id = job.task_id
         where task.identifier = $1 order by job.id`,
        [task],
      );
      return rows;
    },
    /** Makes all waiting jobs due now. */
    async hurry(): Promise<void> {
      await admin.query('update graphile_worker._private_jobs set run_at = now() where locked_at is null');
      await admin.query(`select pg_notify('jobs:insert', '{"count":1}')`);
    },
  };
}
