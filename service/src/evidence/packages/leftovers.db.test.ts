import { expect, it } from 'vitest';
import { usePackages } from '../../testing/evidence/packages.ts';
import { eraseHandler } from '../handlers.ts';

const world = usePackages({ idle: true });

async function stored(): Promise<string[]> {
  const found: string[] = [];
  for await (const { sha256 } of world.api().blobs.list()) found.push(sha256);
  return found.sort();
}

const without = (all: readonly string[], some: readonly string[]): string[] => all.filter((one) => !some.includes(one));

interface Due {
  payload: { sha256: string };
  hours: number;
}

const due = () =>
  world.api().db.systemQuery<Due>(
    'due_erasures',
    `select payload, extract(epoch from run_at - now())::float / 3600 as hours
     from graphile_worker._private_jobs job join graphile_worker._private_tasks task on task.id = task_id where identifier = 'erase_bytes'`,
    [],
  );

/** Runs the due erasures as if a day had passed. */
async function aDayLater(): Promise<void> {
  const { db, blobs } = world.api();
  const context = { db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: false };
  for (const { payload } of await due()) await eraseHandler(blobs).run(payload, context);
}

const formats = ['html', 'json', 'jsonl', 'csv', 'openvex'];

async function requested(title: string): Promise<string> {
  const { id: item } = await world.post<{ id: string }>('/work-items', { title });
  const asset = { type: 'host', name: 'leftovers.example.com' };
  await world.post('/findings', { title: 'A weakness', severity: 'high', asset, work_item_id: item });
  return (await world.request(item, { formats })).package_id;
}

/** Fails after the archive was stored. */
const interrupt = (id: string) =>
  expect(world.attempt(id, { onStep: (step) => (step === 'verify' ? Promise.reject(new Error('interrupted')) : Promise.resolve()) })).rejects.toThrow(
    'interrupted',
  );

it('the bytes of an interrupted attempt are erased after a day', async () => {
  const before = await stored();
  await interrupt(await requested('Interrupted'));
  const left = without(await stored(), before);
  expect(left.length).toBeGreaterThan(5);
  const erasures = await due();
  expect(erasures.map(({ payload }) => payload.sha256).sort()).toEqual(left);
  for (const { hours } of erasures) expect(hours).toBeGreaterThan(23.9);
  await aDayLater();
  expect(await stored()).toEqual(before);
});

it('bytes of a published package are kept, even if an earlier attempt wrote them', async () => {
  const id = await requested('Sealed in the end');
  const before = await stored();
  await interrupt(id);
  const left = without(await stored(), before);
  await world.attempt(id);
  const downloads = () => Promise.all(['zip', ...formats].map((format) => world.download(id, format)));
  const whole = await downloads();
  await aDayLater();
  expect(await downloads()).toEqual(whole);
  const gone = without(left, await stored());
  // findings.csv is identical in both attempts. evidence.json contains the time.
  expect(gone.length).toBeGreaterThan(0);
  expect(gone.length).toBeLessThan(left.length);
});

it('writing the same bytes again postpones their erasure', async () => {
  const id = await requested('Again');
  await interrupt(id);
  const { db } = world.api();
  await db.systemQuery('sooner', `update graphile_worker._private_jobs set run_at = now() + interval '1 minute' where key like 'leftover %'`, []);
  await world.attempt(id);
  const csv = (await world.get<{ files: { path: string; sha256: string }[] }>(`/riskops-evidence/packages/${id}`)).files.find(({ path }) =>
    path.endsWith('.csv'),
  );
  expect((await due()).filter(({ payload }) => payload.sha256 === csv?.sha256).map(({ hours }) => Math.round(hours))).toEqual([24]);
});
