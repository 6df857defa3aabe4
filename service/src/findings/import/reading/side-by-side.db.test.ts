import { formats } from '@rrs/scan-reports';
import { afterAll, expect, it } from 'vitest';
import { ChildFailure } from '../../../jobs/children/child.ts';
import { createSlots } from '../../../jobs/slots.ts';
import { useImports } from '../../../testing/findings/imports.ts';
import { directReader } from '../../../testing/findings/reader.ts';
import { randomOf } from '../../../testing/truth/random.ts';
import { childReader, openReaders } from './read-in-child.ts';
import type { Reader } from './read-report.ts';

const engine = useImports();
const readers = openReaders({ heapMb: 96, timeMs: 60_000 });
afterAll(() => readers.close());

interface Sent {
  asset: string;
  day: number;
  build: number;
  found: readonly number[];
}

const at = (day: number): string => new Date(Date.UTC(2026, 0, day, 6)).toISOString();

function grypeReport({ asset, day, build, found }: Sent) {
  const text = JSON.stringify({
    matches: found.map((n) => ({
      vulnerability: { id: `CVE-2024-${10_000 + n}`, severity: 'High', fix: { versions: ['9'], state: 'fixed' }, description: 'x'.repeat(300) },
      artifact: { name: `lib${n}`, version: `1.${n}`, type: 'deb', purl: `pkg:deb/debian/lib${n}@1.${n}` },
    })),
    source: { type: 'image', target: { userInput: `${asset}:prod`, manifestDigest: `sha256:${String(build % 10).repeat(64)}` } },
    descriptor: { name: 'grype', version: '0.90.0', timestamp: at(day), db: { built: at(day) } },
  });
  return { format: 'grype', name: 'grype.json', bytes: Buffer.from(text) };
}

/** What each organization sends, in order: images of which some builds are scanned twice, with findings that come and go. */
function historyOf(seed: number): Sent[] {
  const random = randomOf(seed);
  return Array.from({ length: 4 }, (_, n) => ({
    asset: ['shop', 'pay'][n % 2] as string,
    day: 1 + n,
    build: 1 + Math.floor(n / 3),
    found: Array.from({ length: 30 }, (_, k) => k).filter(() => random.chance(0.9)),
  }));
}

/** Kills the process of every fourth report in the middle of it. */
function interrupted(reader: Reader): Reader {
  let reads = 0;
  return {
    names: reader.names,
    read: (task, host, signal) => {
      if (++reads % 4 !== 0) return reader.read(task, host, signal);
      let copies = 0;
      const copy: typeof host.copy = async (table, lines) => {
        await host.copy(table, lines);
        if (++copies === 1) throw new ChildFailure('crash', 'ended early with code 1');
      };
      return reader.read(task, { ...host, copy }, signal);
    },
  };
}

async function send(org: string, sent: Sent, reader: Reader): Promise<void> {
  const scope = { coverage: 'complete', asset: { type: 'container_image', name: `${sent.asset}:prod` } } as const;
  for (let attempt = 1; ; attempt++) {
    try {
      await engine.runFile(org, grypeReport(sent), scope, reader);
      return;
    } catch (error) {
      // The job is tried again. Here, the report is uploaded again, which leaves the interrupted import behind.
      if (!(error instanceof ChildFailure) || attempt === 5) throw error;
    }
  }
}

it('reports of many organizations that are read side by side give the same findings as one after the other', { timeout: 120_000 }, async () => {
  expect(formats.some(({ id }) => id === 'grype')).toBe(true);
  const histories = Array.from({ length: 4 }, (_, seed) => historyOf(seed));
  const orgs = await Promise.all(histories.map(async (history) => ({ history, side: await engine.organization(), alone: await engine.organization() })));
  const withoutBrake = JSON.stringify({ brake: { share: 1, count: 1_000_000 } });
  await engine.admin().query('update organizations set policy = $1', [withoutBrake]);
  for (const { history, alone } of orgs) for (const sent of history) await send(alone, sent, directReader);

  const reader = interrupted(childReader(null, readers));
  const slots = createSlots({ running: 4, waiting: 1_000, refusal: '' });
  const inOrder = orgs.slice(0, 2).map(async ({ history, side }) => {
    for (const sent of history) await slots.use(() => send(side, sent, reader));
  });
  // The others send everything at once: reports about one asset overtake each other.
  const atOnce = orgs.slice(2).map(({ history, side }) => Promise.all(history.map((sent) => slots.use(() => send(side, sent, reader)))));
  await Promise.all([...inOrder, ...atOnce]);

  for (const { side, alone } of orgs) {
    const [one, other] = [await engine.stateOf(side, { lawful: true }), await engine.stateOf(alone, { lawful: true })];
    expect(one.findings).toEqual(other.findings);
  }
  const { rows } = await engine.admin().query('select count(*)::int as left from import_rows');
  expect(rows).toEqual([{ left: 0 }]);
});
