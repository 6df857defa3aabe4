import { EventEmitter } from 'node:events';
import type { WorkerEvents } from 'graphile-worker';
import { expect, it } from 'vitest';
import { takeTurns } from './turns.ts';

function useTurns(shared: number, reserved: number) {
  const events = new EventEmitter() as WorkerEvents;
  const places = { shared, reserved };
  const turns = takeTurns({ cpu: places, io: places }, events);
  const emit = (event: 'job:start' | 'job:complete', organization: string): void => {
    const given = { job: { flags: { cpu: true, [`cpu ${organization}`]: true } } };
    (events as EventEmitter).emit(event, given);
  };
  return {
    end: (organization: string): void => emit('job:complete', organization),
    /** Fetches jobs in this order of organizations until none may run. Returns whose started. */
    async fetch(waiting: Record<string, number>): Promise<string[]> {
      const started: string[] = [];
      for (;;) {
        const forbidden = await turns.forbidden();
        const next = Object.entries(waiting).find(([name, jobs]) => jobs > 0 && !forbidden.includes('cpu') && !forbidden.includes(`cpu ${name}`))?.[0];
        if (next === undefined) {
          (events as EventEmitter).emit('worker:getJob:empty', {});
          return started;
        }
        waiting[next] = (waiting[next] ?? 0) - 1;
        started.push(next);
        emit('job:start', next);
      }
    },
    stop: turns.stop,
  };
}

it('an organization alone has half of the shared places', async () => {
  expect(await useTurns(4, 4).fetch({ noisy: 100 })).toEqual(['noisy', 'noisy']);
  expect(await useTurns(5, 5).fetch({ noisy: 100 })).toEqual(['noisy', 'noisy', 'noisy']);
  expect(await useTurns(1, 1).fetch({ noisy: 100 })).toEqual(['noisy']);
});

it('busy organizations have equal shares of the shared places', async () => {
  expect((await useTurns(4, 4).fetch({ a: 100, b: 100 })).sort()).toEqual(['a', 'a', 'b', 'b']);
  const turns = useTurns(6, 6);
  expect((await turns.fetch({ a: 100, b: 100 })).sort()).toEqual(['a', 'a', 'a', 'b', 'b', 'b']);
  expect(await turns.fetch({ a: 100, b: 100, c: 100 })).toEqual(['c']);
  turns.end('a');
  turns.end('b');
  expect(await turns.fetch({ a: 100, b: 100, c: 100 })).toEqual(['c']);
});

it('an organization without a running job starts one at once while others have all shared places', async () => {
  const turns = useTurns(4, 4);
  await turns.fetch({ a: 100, b: 100 });
  expect(await turns.fetch({ a: 100, b: 100, quiet: 5, calm: 5, still: 5, last: 5, late: 5 })).toEqual(['quiet', 'calm', 'still', 'last']);
  turns.end('quiet');
  expect(await turns.fetch({ a: 100, b: 100, late: 5 })).toEqual(['late']);
});

it('an organization gets no second place while several others have one, and gets it back when they have none', async () => {
  const turns = useTurns(4, 4);
  await turns.fetch({ noisy: 100 });
  await turns.fetch({ noisy: 100, quiet: 1, calm: 1 });
  turns.end('noisy');
  expect(await turns.fetch({ noisy: 100 })).toEqual([]);
  turns.end('noisy');
  // It has none at this moment.
  expect(await turns.fetch({ noisy: 100 })).toEqual(['noisy']);
  turns.end('quiet');
  turns.end('calm');
  expect(await turns.fetch({ noisy: 100 })).toEqual(['noisy']);
});

it('a worker that stops starts nothing', async () => {
  const turns = useTurns(4, 4);
  turns.stop();
  expect(await turns.fetch({ quiet: 1 })).toEqual([]);
});
