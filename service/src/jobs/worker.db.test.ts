import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newId } from '../shared/ids.ts';
import { eventually } from '../testing/eventually.ts';
import { useQueue } from '../testing/jobs.ts';
import { assertQueueHasRoom, declareJob, enqueue, handle, type JobContext, MAX_WAITING_JOBS } from './jobs.ts';

const queue = useQueue();
const { tenant } = queue;

/** A job whose runs the test can observe and end. */
function gated(name: string) {
  const job = declareJob<{ n: number }>(name);
  const gate = Promise.withResolvers<void>();
  const runs: AbortSignal[] = [];
  const handler = handle(job, async (_payload, { signal }: JobContext) => {
    runs.push(signal);
    await gate.promise;
  });
  onTestFinished(() => gate.resolve());
  return { job, gate, runs, handler, add: () => queue.db().withTenant(tenant, (tx) => enqueue(tx, job, { n: 1 })) };
}

const watchful = { heartbeatMs: 50, deadAfterMs: 1_000 };

describe('a stopping worker', () => {
  it('finishes the running job and takes no other', async () => {
    const { gate, runs, handler, add } = gated('finishing');
    const worker = await queue.work([handler], { concurrency: 1 });
    await add();
    await eventually(() => runs).toHaveLength(1);
    const stopping = worker.stop();
    await add();
    gate.resolve();
    await stopping;
    expect(runs).toHaveLength(1);
    expect(runs[0]?.aborted).toBe(false);
    expect(await queue.jobs('finishing')).toMatchObject([{ attempts: 0, locked_by: null }]);
  });

  it('aborts the signal of a job that takes too long, and another worker runs it again', async () => {
    const job = declareJob<{ n: number }>('aborted');
    let runs = 0;
    const handler = handle(job, async (_payload, { signal }) => {
      if (++runs > 1) return;
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped in the middle'))));
    });
    const worker = await queue.work([handler], { graceMs: 10 });
    await queue.db().withTenant(tenant, (tx) => enqueue(tx, job, { n: 1 }));
    await eventually(() => runs).toBe(1);
    await worker.stop();
    expect(await queue.jobs('aborted')).toMatchObject([{ attempts: 1, locked_by: null, last_error: 'stopped in the middle' }]);
    await queue.hurry();
    await queue.work([handler]);
    await eventually(() => queue.jobs('aborted')).toEqual([]);
    expect(runs).toBe(2);
  });

  it('deletes its heartbeat', async () => {
    const worker = await queue.work([], watchful);
    const beats = async () => (await queue.admin().query('select worker_id from rrs.worker_heartbeats where worker_id = $1', [worker.id])).rowCount;
    expect(await beats()).toBe(1);
    await worker.stop();
    expect(await beats()).toBe(0);
  });
});

describe('a live worker', () => {
  it.each(['at work', 'stopping'])('keeps its long job while others look for dead workers (%s)', async (state) => {
    const name = `long_${state.replace(' ', '_')}`;
    const { gate, runs, handler, add } = gated(name);
    const worker = await queue.work([handler], { ...watchful, concurrency: 1 });
    await add();
    await eventually(() => runs).toHaveLength(1);
    await queue.work([handler], watchful);
    const stopping = state === 'stopping' ? worker.stop() : undefined;
    await eventually(async () => (await queue.jobs(name))[0]?.locked_for).toBeGreaterThan(watchful.deadAfterMs * 1.5);
    expect(await queue.jobs(name)).toMatchObject([{ locked_by: worker.id }]);
    gate.resolve();
    await stopping;
    await eventually(() => queue.jobs(name)).toEqual([]);
    expect(runs).toHaveLength(1);
  });
});

describe('a killed worker', () => {
  it('loses its job to another worker', async () => {
    const job = declareJob<{ n: number }>('orphaned');
    const child = spawn(process.execPath, [fileURLToPath(new URL('../testing/programs/run-worker.ts', import.meta.url)), queue.url(), job.name], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await queue.db().withTenant(tenant, (tx) => enqueue(tx, job, { n: 42 }));
    const [said] = await once(child.stdout, 'data');
    expect(String(said)).toBe('at work\n');
    const [{ locked_by: dead } = { locked_by: null }] = await queue.jobs('orphaned');
    expect(dead).toEqual(expect.any(String));

    const payloads: unknown[] = [];
    const handler = handle(job, async (payload) => {
      payloads.push(payload);
    });
    await queue.work([handler], { heartbeatMs: 50, deadAfterMs: 400 });
    child.kill('SIGKILL');
    await once(child, 'exit');
    await eventually(() => queue.jobs('orphaned')).toEqual([]);
    expect(payloads).toEqual([{ n: 42 }]);
    const { rows } = await queue.admin().query('select from rrs.worker_heartbeats where worker_id = $1', [dead]);
    expect(rows).toEqual([]);
  });

  it('loses its job even before its first heartbeat', async () => {
    const { gate, runs, handler, add } = gated('unheard_of');
    await add();
    await queue.admin().query(`
      update graphile_worker._private_jobs set locked_by = 'nobody knows', locked_at = now() - interval '10 seconds', attempts = 1
      where task_id = (select id from graphile_worker._private_tasks where identifier = 'unheard_of')`);
    gate.resolve();
    await queue.work([handler], { heartbeatMs: 50, deadAfterMs: 400 });
    await eventually(() => queue.jobs('unheard_of')).toEqual([]);
    expect(runs).toHaveLength(1);
  });

  it('loses its job at once to a worker that is alone on the database', async () => {
    const { gate, runs, handler, add } = gated('inherited');
    await add();
    await queue.admin().query(`
      insert into rrs.worker_heartbeats (worker_id, seen_at) values ('just died', now());
      update graphile_worker._private_jobs set locked_by = 'just died', locked_at = now(), attempts = 1
      where task_id = (select id from graphile_worker._private_tasks where identifier = 'inherited')`);
    gate.resolve();
    await queue.work([handler], { alone: true });
    await eventually(() => queue.jobs('inherited')).toEqual([]);
    expect(runs).toHaveLength(1);
  });

  it('during the last attempt leaves one more attempt, in which the failure can be recorded', async () => {
    const job = declareJob<{ n: number }>('last_words', { maxAttempts: 2 });
    await queue.db().withTenant(tenant, (tx) => enqueue(tx, job, { n: 1 }));
    await queue.admin().query(`
      update graphile_worker._private_jobs set locked_by = 'killed', locked_at = now() - interval '10 seconds', attempts = 2
      where task_id = (select id from graphile_worker._private_tasks where identifier = 'last_words')`);
    const last: boolean[] = [];
    await queue.work([handle(job, async (_payload, { lastAttempt }) => void last.push(lastAttempt))], { heartbeatMs: 50, deadAfterMs: 400 });
    await eventually(() => queue.jobs('last_words')).toEqual([]);
    expect(last).toEqual([true]);
  });
});

describe('a job whose workers die', () => {
  const die = (task: string) =>
    queue.admin().query(
      `update graphile_worker._private_jobs set locked_by = 'killed', locked_at = now() - interval '10 seconds', attempts = attempts + 1
       where task_id = (select id from graphile_worker._private_tasks where identifier = $1)`,
      [task],
    );

  it('runs again after the first death and is abandoned with a reason after the second', async () => {
    const job = declareJob<{ n: number }>('deadly');
    const runs: number[] = [];
    const reasons: string[] = [];
    const handler = handle(job, async ({ n }) => void runs.push(n), { abandon: async (_payload, _context, reason) => void reasons.push(reason) });
    for (const n of [1, 2]) await queue.db().withTenant(tenant, (tx) => enqueue(tx, job, { n }));
    await die('deadly');
    // A worker that has no handler for the job only releases it.
    await queue.work([], watchful);
    await eventually(async () => (await queue.jobs('deadly')).map(({ locked_by }) => locked_by)).toEqual([null, null]);
    await queue.admin().query(`
      update graphile_worker._private_jobs set locked_by = 'killed next', locked_at = now() - interval '10 seconds', attempts = attempts + 1
      where (payload ->> 'n') = '2' and task_id = (select id from graphile_worker._private_tasks where identifier = 'deadly')`);
    await eventually(async () => (await queue.jobs('deadly')).map(({ last_error }) => last_error)).toEqual(['worker died', 'worker died again']);
    await queue.work([handler], watchful);
    await eventually(() => queue.jobs('deadly')).toEqual([]);
    expect(runs).toEqual([1]);
    expect(reasons).toEqual([expect.stringContaining('Twice, the process')]);
  });

  it('is tried again later after the second death if nothing records that it was abandoned', async () => {
    const job = declareJob<{ n: number }>('needed');
    let runs = 0;
    const handler = handle(job, async () => void runs++);
    await queue.db().withTenant(tenant, (tx) => enqueue(tx, job, { n: 1 }));
    await queue
      .admin()
      .query(
        `update graphile_worker._private_jobs set last_error = 'worker died again' where task_id = (select id from graphile_worker._private_tasks where identifier = 'needed')`,
      );
    await queue.work([handler], watchful);
    await eventually(async () => (await queue.jobs('needed')).map(({ last_error, locked_by }) => ({ last_error, locked_by }))).toEqual([
      { last_error: 'two workers died while they ran it', locked_by: null },
    ]);
    expect(runs).toBe(0);
    await queue.hurry();
    await eventually(() => queue.jobs('needed')).toEqual([]);
    expect(runs).toBe(1);
  });
});

describe('a busy process', () => {
  it('still marks jobs as done after it was blocked for longer than connections may take', async () => {
    const { gate, runs, handler, add } = gated('many_at_once');
    await queue.work([handler], { concurrency: 8 });
    for (let n = 0; n < 8; n++) await add();
    await eventually(() => runs).toHaveLength(8);
    gate.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_500);
    await eventually(() => queue.jobs('many_at_once')).toEqual([]);
  });
});

describe('organizations', () => {
  it('take turns', async () => {
    const job = declareJob<{ org_id: string; n: number }>('taking_turns');
    const [busy, calm] = [newId(), newId()];
    const order: string[] = [];
    const handler = handle(job, async ({ org_id, n }) => void order.push(`${org_id === busy ? 'busy' : 'calm'} ${n}`));
    const add = (org_id: string, ...numbers: number[]) =>
      queue.db().withTenant(tenant, async (tx) => {
        for (const n of numbers) await enqueue(tx, job, { org_id, n });
      });
    await add(busy, ...Array.from({ length: 50 }, (_, n) => n));
    await add(calm, 0, 1);
    await queue.work([handler], { concurrency: 1 });
    await eventually(() => order).toHaveLength(52);
    expect(order.indexOf('calm 0')).toBeLessThan(3);
    expect(order.indexOf('calm 1')).toBeLessThan(5);
    expect(order.filter((run) => run.startsWith('busy'))).toEqual(Array.from({ length: 50 }, (_, n) => `busy ${n}`));
  });

  it('do not wait for jobs that another one has queued and that do not run yet', async () => {
    const job = declareJob<{ org_id: string; n: number }>('not_fetched_ahead');
    const [busy, calm] = [newId(), newId()];
    const order: string[] = [];
    const gates = Array.from({ length: 31 }, () => Promise.withResolvers<void>());
    onTestFinished(() => {
      for (const gate of gates) gate.resolve();
    });
    const handler = handle(job, async ({ org_id }) => {
      order.push(org_id === busy ? 'busy' : 'calm');
      await gates[order.length - 1]?.promise;
    });
    const add = (org_id: string, count: number) =>
      queue.db().withTenant(tenant, async (tx) => {
        for (let n = 0; n < count; n++) await enqueue(tx, job, { org_id, n });
      });
    await queue.work([handler], { concurrency: 1 });
    await add(busy, 30);
    await eventually(() => order).toHaveLength(1);
    await add(calm, 1);
    await eventually(() => order).toEqual(['busy', 'calm']);
    gates[0]?.resolve();
    gates[1]?.resolve();
    await eventually(() => order).toEqual(['busy', 'calm', 'busy']);
    // The queue does not wait until a finished job is gone before it fetches the next one.
    const locked = async () => (await queue.jobs('not_fetched_ahead')).filter(({ locked_by }) => locked_by !== null);
    await eventually(locked).toHaveLength(1);
    for (const gate of gates) gate.resolve();
    await eventually(() => queue.jobs('not_fetched_ahead')).toEqual([]);
  });

  it('have at most half of the places, and one that has no job running waits for none of the others', async () => {
    const job = declareJob<{ org_id: string; n: number }>('last_place');
    const [busy, busier, calm] = [newId(), newId(), newId()];
    const running: string[] = [];
    const gate = Promise.withResolvers<void>();
    onTestFinished(() => gate.resolve());
    const names = new Map([
      [busy, 'busy'],
      [busier, 'busier'],
      [calm, 'calm'],
    ]);
    const handler = handle(job, async ({ org_id }) => {
      running.push(names.get(org_id) ?? '');
      await gate.promise;
    });
    const enqueued = (org_id: string, count: number) =>
      queue.db().withTenant(tenant, async (tx) => {
        for (let n = 0; n < count; n++) await enqueue(tx, job, { org_id, n });
      });
    await enqueued(busy, 10);
    await queue.work([handler], { concurrency: 4 });
    await eventually(() => running).toEqual(['busy', 'busy']);
    await enqueued(busier, 10);
    await eventually(() => running).toEqual(['busy', 'busy', 'busier', 'busier']);
    await enqueued(calm, 2);
    await eventually(() => running).toEqual(['busy', 'busy', 'busier', 'busier', 'calm']);
    gate.resolve();
    await eventually(() => queue.jobs('last_place')).toEqual([]);
    expect(running).toHaveLength(22);
  });

  it('share the places however many they are, and none starves', async () => {
    const job = declareJob<{ org_id: string; n: number }>('very_many');
    const [busy, ...others] = Array.from({ length: 41 }, newId);
    const order: string[] = [];
    let [running, most] = [0, 0];
    const handler = handle(job, async ({ org_id }) => {
      order.push(org_id);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running--;
    });
    await queue.db().withTenant(tenant, async (tx) => {
      for (let n = 0; n < 100; n++) await enqueue(tx, job, { org_id: busy ?? '', n });
      for (const org_id of others) for (let n = 0; n < 3; n++) await enqueue(tx, job, { org_id, n });
    });
    await queue.work([handler], { concurrency: 2 });
    await eventually(() => order).toHaveLength(220);
    await eventually(() => queue.jobs('very_many')).toEqual([]);
    // Two places for everybody, and two for organizations that have no job running.
    expect(most).toBeLessThanOrEqual(4);
    for (const org of others) {
      const places = order.flatMap((one, at) => (one === org ? [at] : []));
      places.forEach((place, n) => void expect(place).toBeLessThan((n + 1) * 41 + 4));
    }
  });

  it('start where the others are now, so that neither has to wait for what the other had before', async () => {
    const job = declareJob<{ org_id: string; n: number }>('starting_late');
    const [busy, calm] = [newId(), newId()];
    await queue.db().withTenant(tenant, async (tx) => {
      for (let n = 0; n < 20; n++) await enqueue(tx, job, { org_id: busy, n });
    });
    await queue.admin().query(`delete from graphile_worker._private_jobs where payload ->> 'org_id' = $1 and (payload ->> 'n')::int < 15`, [busy]);
    await queue.db().withTenant(tenant, (tx) => enqueue(tx, job, { org_id: calm, n: 0 }));
    const { rows } = await queue.admin().query<{ org_id: string; priority: number }>(
      `select payload ->> 'org_id' as org_id, min(priority) as priority from graphile_worker._private_jobs
       where payload ->> 'org_id' = any($1) group by 1`,
      [[busy, calm]],
    );
    expect(rows.map(({ priority }) => priority)).toEqual([16, 16]);
    await queue.admin().query('delete from graphile_worker._private_jobs');
  });

  it('cannot queue more than a limit by requests', async () => {
    await queue.admin().query(`insert into graphile_worker._private_tasks (identifier) values ('waiting_jobs') on conflict do nothing`);
    const fill = (count: number) =>
      queue.admin().query(
        `insert into graphile_worker._private_jobs (task_id, payload) select t.id, json_build_object('org_id', $1::text)
         from graphile_worker._private_tasks t, generate_series(1, $2) where t.identifier = 'waiting_jobs'`,
        [tenant.orgId, count],
      );
    await fill(MAX_WAITING_JOBS - 1);
    await queue.db().withTenant(tenant, assertQueueHasRoom);
    await fill(1);
    await expect(queue.db().withTenant(tenant, assertQueueHasRoom)).rejects.toMatchObject({ code: 'rate_limited', headers: { 'retry-after': '30' } });
    await queue.db().withTenant({ orgId: newId() }, assertQueueHasRoom);
    await queue.admin().query('delete from graphile_worker._private_jobs');
  });
});

describe('two workers', () => {
  it('run each of 100 jobs exactly once', async () => {
    const job = declareJob<{ n: number }>('shared_out');
    const finished: number[] = [];
    const running = new Set<number>();
    const handler = handle(job, async ({ n }) => {
      expect(running.has(n)).toBe(false);
      running.add(n);
      await queue.db().systemQuery('round_trip', 'select 1', []);
      running.delete(n);
      finished.push(n);
    });
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    await Promise.all([queue.work([handler], { concurrency: 4, ...watchful }), queue.work([handler], { concurrency: 4, ...watchful })]);
    await queue.db().withTenant(tenant, async (tx) => {
      for (const n of numbers) await enqueue(tx, job, { n });
    });
    await eventually(() => queue.jobs('shared_out')).toEqual([]);
    expect(finished.toSorted((a, b) => a - b)).toEqual(numbers);
  });
});
