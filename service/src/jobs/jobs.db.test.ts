import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { useQueue } from '../testing/jobs.ts';
import { declareJob, enqueue, handle } from './jobs.ts';

const queue = useQueue();
const { tenant } = queue;

/** A job with a unique name, and the payloads that its handler received. */
function recorded(name: string, options: { maxAttempts?: number } = {}) {
  const job = declareJob<{ n: number }>(name, options);
  const seen: number[] = [];
  const handler = handle(job, async ({ n }) => {
    seen.push(n);
  });
  return { job, seen, handler };
}

describe('a job', () => {
  it('runs after its transaction commits, in either role', async () => {
    const { job, seen, handler } = recorded('committed');
    await queue.work([handler]);
    await queue.db().withTenant(tenant, (tx) => enqueue(tx, job, { n: 1 }));
    await eventually(() => seen).toEqual([1]);
    await queue.db().withSystem((tx) => enqueue(tx, job, { n: 2 }));
    await eventually(() => seen).toEqual([1, 2]);
    await eventually(() => queue.jobs('committed')).toEqual([]);
  });

  it('does not exist if its transaction is rolled back', async () => {
    const { job, seen, handler } = recorded('rolled_back');
    await queue.work([handler]);
    for (const inTransaction of [queue.db().withSystem, queue.db().withTenant.bind(null, tenant)]) {
      const failing = inTransaction(async (tx) => {
        await enqueue(tx, job, { n: 1 });
        throw new Error('on second thought');
      });
      await expect(failing).rejects.toThrow('on second thought');
    }
    expect(await queue.jobs('rolled_back')).toEqual([]);
    await queue.db().withTenant(tenant, (tx) => enqueue(tx, job, { n: 2 }));
    await eventually(() => seen).toEqual([2]);
  });

  it('is invisible to workers before its transaction commits', async () => {
    const { job, seen, handler } = recorded('uncommitted');
    const after = recorded('after_uncommitted');
    await queue.work([handler, after.handler]);
    // A worker registers its job names when it first looks for a job, and would wait for a transaction that adds the same name.
    await queue.db().withTenant(tenant, (tx) => enqueue(tx, after.job, { n: 8 }));
    await eventually(() => after.seen).toEqual([8]);
    await queue.db().withTenant(tenant, async (tx) => {
      await enqueue(tx, job, { n: 1 });
      await queue.db().systemQuery('other', `select rrs_jobs.add_job('after_uncommitted', '{"n":9}', null, null, 1, 'cpu')`, []);
      await eventually(() => after.seen).toEqual([8, 9]);
      expect(seen).toEqual([]);
    });
    await eventually(() => seen).toEqual([1]);
  });

  it.each([
    'select * from graphile_worker._private_jobs',
    'select * from graphile_worker.jobs',
    'update graphile_worker._private_jobs set run_at = now()',
    'delete from graphile_worker._private_jobs',
    'truncate graphile_worker._private_jobs',
    `insert into graphile_worker._private_jobs (task_id) values (1)`,
    `select graphile_worker.add_job('other')`,
    `select graphile_worker.remove_job('key')`,
    `select graphile_worker.complete_jobs(array[1])`,
    `select graphile_worker.force_unlock_workers(array['worker'])`,
    'select * from worker_heartbeats',
  ])('can be enqueued by the application role, which cannot read or change the queue: %s', async (statement) => {
    await expect(queue.db().withTenant(tenant, (tx) => sql.raw(statement).execute(tx))).rejects.toMatchObject({ code: '42501' });
  });

  it('is retried if it fails, with the failure in the log and the metrics', async () => {
    const job = declareJob<{ n: number }>('flaky');
    const attempts: number[] = [];
    const handler = handle(job, async ({ n }) => {
      attempts.push(n);
      if (attempts.length === 1) throw new Error('the vendor is away');
    });
    const log = { info: vi.fn(), error: vi.fn() };
    const onFinished = vi.fn();
    await queue.work([handler], { log, onFinished });
    await queue.db().withTenant(tenant, (tx) => enqueue(tx, job, { n: 7 }));
    await eventually(() => queue.jobs('flaky')).toMatchObject([{ attempts: 1, last_error: 'the vendor is away', locked_by: null }]);
    await queue.hurry();
    await eventually(() => queue.jobs('flaky')).toEqual([]);
    expect(attempts).toEqual([7, 7]);
    expect(onFinished.mock.calls).toEqual([
      ['flaky', 'failed', expect.any(Number)],
      ['flaky', 'succeeded', expect.any(Number)],
    ]);
    expect(log.error).toHaveBeenCalledWith(expect.objectContaining({ job: 'flaky', attempt: 1 }), 'job failed');
  });

  it('is given up after its last attempt, and kept for inspection', async () => {
    const job = declareJob<{ n: number }>('hopeless', { maxAttempts: 2 });
    let attempts = 0;
    const handler = handle(job, async () => {
      attempts++;
      throw new Error(`no ${attempts}`);
    });
    await queue.work([handler]);
    await queue.db().withTenant(tenant, (tx) => enqueue(tx, job, { n: 1 }));
    await eventually(() => queue.jobs('hopeless')).toMatchObject([{ attempts: 1, locked_by: null }]);
    await queue.hurry();
    await eventually(() => queue.jobs('hopeless')).toMatchObject([{ attempts: 2, last_error: 'no 2', locked_by: null }]);
    await queue.hurry();
    const { job: next, seen, handler: nextHandler } = recorded('after_hopeless');
    await queue.work([nextHandler, handler]);
    await queue.db().withTenant(tenant, (tx) => enqueue(tx, next, { n: 1 }));
    await eventually(() => seen).toEqual([1]);
    expect(attempts).toBe(2);
  });

  it('with a key is enqueued once, with the last payload', async () => {
    const { job, seen, handler } = recorded('keyed');
    for (const n of [1, 2, 3]) await queue.db().withTenant(tenant, (tx) => enqueue(tx, job, { n }, { key: 'keyed/a' }));
    await queue.db().withTenant(tenant, (tx) => enqueue(tx, job, { n: 10 }, { key: 'keyed/b' }));
    await queue.work([handler]);
    await eventually(() => queue.jobs('keyed')).toEqual([]);
    expect(seen.toSorted((a, b) => a - b)).toEqual([3, 10]);
  });

  it('with a start time waits for it', async () => {
    const { job, seen, handler } = recorded('later');
    await queue.db().withTenant(tenant, (tx) => enqueue(tx, job, { n: 1 }, { runAt: new Date(Date.now() + 3_600_000) }));
    await queue.db().withTenant(tenant, (tx) => enqueue(tx, job, { n: 2 }, { runAt: new Date(Date.now() - 1_000) }));
    await queue.work([handler]);
    await eventually(() => queue.jobs('later')).toMatchObject([{ payload: { n: 1 }, attempts: 0 }]);
    expect(seen).toEqual([2]);
    await queue.hurry();
    await eventually(() => seen).toEqual([2, 1]);
  });

  it('with a schedule is registered once, under its name', async () => {
    const scheduled = handle(declareJob('nightly'), async () => {}, { schedule: '17 3 * * *' });
    await queue.work([scheduled]);
    await queue.work([scheduled]);
    const { rows } = await queue.admin().query(`select identifier from graphile_worker._private_known_crontabs where identifier = 'nightly'`);
    expect(rows).toEqual([{ identifier: 'nightly' }]);
  });

  it('with an invalid schedule prevents the worker from starting', async () => {
    await expect(queue.work([handle(declareJob('whenever'), async () => {}, { schedule: 'every now and then' })])).rejects.toThrow();
  });
});
