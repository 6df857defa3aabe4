import { setTimeout as delay } from 'node:timers/promises';
import { formats } from '../../../scan-reports/src/index.ts';
import { attacksOn, slowness, targets } from '../../../scan-reports/src/testing/attacks.ts';
import { readFixtures } from '../../../scan-reports/src/testing/fixtures.ts';
import { type Random, randomOf } from '../../../service/src/testing/truth/random.ts';
import type { Outcome } from '../figures.ts';
import { inParallel, type Size, type Target, within } from './target.ts';

const PARALLEL = 6;
const END_SECONDS = 600;

interface Upload {
  name: string;
  bytes: Uint8Array;
}

/** Uploads reports and waits until all imports have ended. */
export async function upload(target: Target, uploads: Iterable<Upload>, what: string): Promise<{ statuses: Map<string, number>; violations: string[] }> {
  const { api } = target;
  const as = api.ours.owner;
  const violations: string[] = [];
  const statuses = new Map<string, number>();
  const count = (status: string): void => void statuses.set(status, (statuses.get(status) ?? 0) + 1);
  await inParallel(uploads, PARALLEL, async ({ name, bytes }) => {
    for (;;) {
      const headers = { 'content-type': 'application/octet-stream', prefer: 'wait=0' };
      const path = `/api/v1/imports?filename=${encodeURIComponent(name)}`;
      const answer = await api
        .call('POST', path, { as, body: bytes, headers })
        .catch((error: unknown) => ({ status: 0, body: String(error), headers: new Headers() }));
      if (answer.status === 429) {
        await delay(1000 * Number(answer.headers.get('retry-after') ?? 1));
        continue;
      }
      if (answer.status !== 202 && answer.status !== 400) violations.push(`${what} ${name}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`);
      count(String(answer.status));
      return;
    }
  });
  const open = async (): Promise<number> => {
    const [row] = await api.db.systemQuery<{ count: number }>(
      'open_imports',
      `select count(*)::int as count from imports where status in ('queued', 'running')`,
      [],
    );
    return row?.count ?? 0;
  };
  for (const deadline = Date.now() + END_SECONDS * 1000; (await open()) > 0; await delay(200)) {
    if (Date.now() < deadline && !target.service.ended()) continue;
    violations.push(`${what}: ${await open()} imports have not ended after ${END_SECONDS} s`);
    break;
  }
  const unexplained = await api.db.systemQuery<{ filename: string | null; error: string | null }>(
    'unexplained_imports',
    `select filename, error from imports where status = 'failed' and (error is null or error like '%internal error%' or error like '%Twice, the process%')`,
    [],
  );
  for (const { filename, error } of unexplained) violations.push(`${what} ${filename}: ${error ?? 'failed without a reason'}`);
  return { statuses, violations };
}

const LETTERS = Buffer.from('0123456789aZ-/.@');

/** Changes letters, so that the file stays readable but says something else. */
function reworded(bytes: Uint8Array, random: Random): Uint8Array {
  const content = Buffer.from(bytes);
  for (let changes = 1 + random.number(20); changes > 0; changes--) {
    const at = random.number(content.length);
    if (/\w/.test(String.fromCharCode(content[at] ?? 0))) content[at] = LETTERS[random.number(LETTERS.length)] ?? 0;
  }
  return content;
}

/** Changes bytes, and removes, repeats and inserts parts, as a broken or hostile tool would. */
function mutated(bytes: Uint8Array, random: Random): Uint8Array {
  if (random.chance(0.5)) return reworded(bytes, random);
  let content = Buffer.from(bytes);
  for (let changes = 1 + random.number(4); changes > 0; changes--) {
    const at = random.number(content.length + 1);
    const end = Math.min(content.length, at + 1 + random.number(200));
    const part = content.subarray(at, end);
    const insert = random.pick<Uint8Array>([
      Buffer.from([random.number(256)]),
      Buffer.concat([part, part]),
      Buffer.from('\u0000'),
      Buffer.from('"\\ud800"'),
      Buffer.from('9'.repeat(400)),
      Buffer.from('{"__proto__":{}}'),
      Buffer.from('['.repeat(2_000)),
      Buffer.alloc(0),
    ]);
    content = Buffer.concat([content.subarray(0, at), insert, content.subarray(random.chance(0.5) ? end : at)]);
  }
  return content;
}

export async function mutatedReports(target: Target, { count, seed, minutes }: Size): Promise<Outcome> {
  const random = randomOf(seed);
  const fixtures = formats.flatMap(({ id }) => readFixtures(id)).filter(({ bytes }) => bytes.length > 0 && bytes.length < 200_000);
  function* uploads(): Generator<Upload> {
    for (let n = 0; n < count; n++) {
      const { name, bytes } = fixtures[n % fixtures.length] ?? { name: '', bytes: Buffer.alloc(0) };
      yield { name, bytes: mutated(bytes, random) };
    }
  }
  const { statuses, violations } = await upload(target, within(minutes, uploads()), 'mutated report');
  const ended = await target.api.db.systemQuery<{ status: string; count: number }>(
    'ended_imports',
    `select status, count(*)::int as count from imports where org_id = $1 group by 1`,
    [target.api.ours.id],
  );
  const health = target.healthOf('mutated reports');
  return {
    figures: [
      ['mutated reports: uploaded', `${[...statuses].map(([status, n]) => `${status}: ${n}`).join(', ')}, of ${count}`],
      ['mutated reports: ended as', ended.map(({ status, count }) => `${status}: ${count}`).join(', ')],
      ['mutated reports: other callers', health.figure],
    ],
    violations: [...violations, ...health.violations],
  };
}

/** Strings that are slow to read in every string field of every format. `perField` of them for each field. */
export async function fieldSearch({ perField, format, minutes }: { perField: number; format?: string | undefined; minutes: number }): Promise<Outcome> {
  const chosen = targets().filter((target) => format === undefined || target.format.id === format);
  const violations: string[] = [];
  let tried = 0;
  for (const [index, target] of within(minutes, chosen.entries())) {
    for (const attack of attacksOn(target, index, perField)) {
      const found = await slowness(attack);
      tried++;
      if (found !== null) violations.push(found);
    }
  }
  return { figures: [['fields: attacks', `${tried} on ${chosen.length} fields of ${new Set(chosen.map((one) => one.format.id)).size} formats`]], violations };
}
