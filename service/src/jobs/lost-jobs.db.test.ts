import { expect, it } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { useQueue } from '../testing/jobs.ts';
import { declareJob, enqueue, handle } from './jobs.ts';

const queue = useQueue();
const QUICK = { heartbeatMs: 50, deadAfterMs: 300 };

it('a job that the worker fetched without learning of it runs, and one that takes long runs once', async () => {
  const job = declareJob<{ n: number }>('lost');
  const runs: number[] = [];
  const gate = Promise.withResolvers<void>();
  const handler = handle(job, async ({ n }) => {
    runs.push(n);
    if (n === 1) await gate.promise;
  });
  const { id } = await queue.work([handler], QUICK);
  await queue.db().withTenant(queue.tenant, (tx) => enqueue(tx, job, { n: 1 }));
  await eventually(() => runs).toEqual([1]);
  await queue.db().withTenant(queue.tenant, (tx) => enqueue(tx, job, { n: 2 }, { runAt: new Date(Date.now() + 3_600_000) }));
  // As if the answer to the statement that fetched it had been lost.
  await queue
    .admin()
    .query('update graphile_worker._private_jobs set locked_by = $1, locked_at = now(), run_at = now(), attempts = 1 where locked_at is null', [id]);
  await eventually(() => runs).toEqual([1, 2]);
  gate.resolve();
  await eventually(() => queue.jobs('lost')).toEqual([]);
  expect(runs).toEqual([1, 2]);
});
