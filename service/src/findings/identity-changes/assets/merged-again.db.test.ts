import type { Asset, Observation } from '@rrs/scan-reports';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seen } from '../../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../../testing/findings/imports-with-api.ts';
import { histories, LAW } from '../../../testing/findings/laws.ts';

const service = useImportsWithApi();
const { get, send } = service;
const FIRST_DAY = Math.floor(Date.now() / 86_400_000) - 41;
const dayShown = (at: string): number => Math.floor(Date.parse(at) / 86_400_000) - FIRST_DAY;

type Severity = Observation['severity'];
const SIDES = ['one', 'two', 'three'] as const;
type Side = (typeof SIDES)[number];
/** A complete scan of one repository on a day. */
interface Report {
  side: Side;
  day: number;
  shown: readonly number[];
  severity?: Severity;
  source?: 'tool_a' | 'tool_b';
}
interface Merge {
  merge: readonly [Side, Side];
}
interface Unmerge {
  unmerge: Side;
}
type Step = Report | Merge | Unmerge;

interface Shown {
  id: string;
  vulnerability_ids: string[];
  status: string;
  severity: Severity;
  severity_override: object | null;
  decisions: { kind: string; state: string }[];
  first_seen: string;
  last_seen: string;
  sightings: { source: { provider: string }; state: string; first_seen: string; last_seen: string; missed: { at: string } | null }[];
}

let count = 0;
/** Three repositories that one report each has shown on day 1, oldest first. */
async function repositories() {
  const n = ++count;
  const named = (side: Side): Asset => ({ type: 'repository', name: `https://git.example.com/again-${n}/${side}` });
  const report = async ({ side, day, shown, severity = 'high', source = 'tool_a' }: Report) => {
    const found = shown.map(
      (k): Observation => seen({ asset: named(side), vulnerability_ids: [`CVE-2026-${100_000 + 10 * n + k}`], severity, location: { component: `lib-${k}` } }),
    );
    const started_at = new Date((FIRST_DAY + day) * 86_400_000).toISOString();
    expect(await service.run([...found, { run: { asset: named(side) } }], { source, scope: { coverage: 'complete', started_at } })).toMatchObject({
      status: 'succeeded',
    });
  };
  for (const side of SIDES) await report({ side, day: 1, shown: [9] });
  const idOf = async (side: Side) => (await get<{ data: { id: string }[] }>(`/assets?name=git.example.com/again-${n}/${side}`)).data[0]?.id ?? '';
  const ids = { one: await idOf('one'), two: await idOf('two'), three: await idOf('three') };
  const rootOf = async (id: string): Promise<string> => {
    const { merged_into } = await get<{ merged_into: string | null }>(`/assets/${id}`);
    return merged_into === null ? id : rootOf(merged_into);
  };
  const merge = async ([id, other]: readonly [Side, Side]) => {
    const [from, into] = [await rootOf(ids[id]), await rootOf(ids[other])];
    if (from !== into) expect(await send('POST', `/assets/${from}/merge`, { into })).toMatchObject({ status: 200 });
  };
  const unmerge = (side: Side) => send('POST', `/assets/${ids[side]}/unmerge`, { reason: 'two repositories' });
  /** Separates all three. */
  const unmergeAll = async () => {
    for (const side of [...SIDES, ...SIDES]) expect([200, 409]).toContain((await unmerge(side)).status);
    for (const side of SIDES) expect(await rootOf(ids[side])).toBe(ids[side]);
  };
  const findings = async (side: Side): Promise<Record<string, Shown>> => {
    const { data } = await get<{ data: { id: string }[] }>(`/findings?asset_id=${ids[side]}&limit=100`);
    const shown = await Promise.all(data.map(({ id }) => get<Shown>(`/findings/${id}`)));
    return Object.fromEntries(shown.map((one) => [String(one.vulnerability_ids[0]?.at(-1)), one]));
  };
  /** As `status severity, first to last day: source state first to last day`. */
  const stateOf = async (side: Side): Promise<Record<string, string>> => {
    const line = ({ status, severity, first_seen, last_seen, sightings }: Shown) =>
      `${status} ${severity}, ${dayShown(first_seen)} to ${dayShown(last_seen)}: ${sightings
        .map((one) => `${one.source.provider} ${one.state} ${dayShown(one.first_seen)} to ${dayShown(one.last_seen)}`)
        .join(', ')}`;
    return Object.fromEntries(Object.entries(await findings(side)).flatMap(([n, one]) => (n === '9' ? [] : [[n, line(one)]])));
  };
  return { report, merge, unmerge, unmergeAll, findings, stateOf };
}

/** Takes the steps, and separates what is still merged. `apart` leaves out the merges. */
async function after(steps: readonly Step[], { apart = false } = {}) {
  const given = await repositories();
  for (const step of steps) {
    if ('side' in step) await given.report(step);
    else if (apart) continue;
    else if ('merge' in step) await given.merge(step.merge);
    else expect([200, 409]).toContain((await given.unmerge(step.unmerge)).status);
  }
  if (!apart) await given.unmergeAll();
  return given;
}

const HISTORIES: Record<string, Step[]> = {
  'the one whose finding did not stay is reported as more severe': [
    { side: 'one', day: 2, shown: [1], severity: 'low' },
    { side: 'two', day: 3, shown: [1], severity: 'low' },
    { merge: ['two', 'one'] },
    { side: 'two', day: 4, shown: [1], severity: 'critical' },
  ],
  'a tool that knew it only of the other one reports it as more severe': [
    { side: 'two', day: 4, shown: [1], severity: 'low' },
    { side: 'one', day: 6, shown: [1], severity: 'low', source: 'tool_b' },
    { merge: ['two', 'one'] },
    { side: 'one', day: 31, shown: [1], severity: 'critical' },
  ],
  'a tool reports the other one as more severe': [
    { side: 'one', day: 2, shown: [1], severity: 'low' },
    { side: 'two', day: 3, shown: [1], severity: 'low', source: 'tool_b' },
    { merge: ['two', 'one'] },
    { side: 'one', day: 4, shown: [1], severity: 'critical', source: 'tool_b' },
  ],
  'both are reported while they are one, twice': [
    { side: 'one', day: 2, shown: [1] },
    { side: 'two', day: 3, shown: [1, 2] },
    { merge: ['two', 'one'] },
    { side: 'one', day: 4, shown: [1, 2] },
    { side: 'two', day: 5, shown: [1, 2] },
    { unmerge: 'one' },
    { side: 'two', day: 6, shown: [1, 2, 3] },
    { merge: ['one', 'two'] },
    { side: 'two', day: 7, shown: [1, 2, 3] },
    { side: 'one', day: 8, shown: [1, 2] },
  ],
  'one of them is reported the first time, and the other one the second time': [
    { side: 'one', day: 2, shown: [1] },
    { side: 'two', day: 3, shown: [1] },
    { merge: ['two', 'one'] },
    { side: 'two', day: 4, shown: [1, 2] },
    { unmerge: 'two' },
    { merge: ['two', 'one'] },
    { side: 'one', day: 5, shown: [1, 2] },
  ],
  'nothing is reported the second time': [
    { side: 'one', day: 2, shown: [1] },
    { side: 'two', day: 3, shown: [1] },
    { merge: ['two', 'one'] },
    { side: 'two', day: 4, shown: [1] },
    { side: 'one', day: 5, shown: [1] },
    { unmerge: 'two' },
    { merge: ['two', 'one'] },
  ],
  'a chain shows something new of its ends': [
    { merge: ['three', 'two'] },
    { merge: ['two', 'one'] },
    { side: 'three', day: 7, shown: [1], severity: 'low' },
    { side: 'one', day: 31, shown: [1], severity: 'critical', source: 'tool_b' },
  ],
  'a chain shows what all three have': [
    { side: 'three', day: 2, shown: [1] },
    { side: 'two', day: 3, shown: [1] },
    { side: 'one', day: 4, shown: [1] },
    { merge: ['three', 'two'] },
    { side: 'two', day: 5, shown: [1, 2] },
    { merge: ['two', 'one'] },
    { side: 'three', day: 6, shown: [1, 2] },
    { side: 'one', day: 7, shown: [1, 2] },
  ],
  'an older report shows what the first of two others that were merged into it has': [
    { merge: ['three', 'one'] },
    { side: 'two', day: 10, shown: [1] },
    { merge: ['two', 'one'] },
    { side: 'three', day: 21, shown: [] },
    { side: 'one', day: 15, shown: [1] },
  ],
};

it.each(Object.entries(HISTORIES))('repositories that were merged for a while have what they would have if they had never been: %s', async (_name, steps) => {
  const [apart, merged] = [await after(steps, { apart: true }), await after(steps)];
  for (const side of SIDES) expect({ [side]: await merged.stateOf(side) }).toEqual({ [side]: await apart.stateOf(side) });
});

it('a finding that a late report showed during the merge was missed by the later scan of its repository', async () => {
  const { findings, report } = await after([
    { side: 'one', day: 38, shown: [] },
    { merge: ['two', 'one'] },
    { side: 'one', day: 33, shown: [1] },
    { unmerge: 'two' },
    { merge: ['two', 'one'] },
  ]);
  const sighting = async () => (await findings('one'))[1]?.sightings[0];
  expect(dayShown((await sighting())?.last_seen ?? '')).toBe(33);
  expect(dayShown((await sighting())?.missed?.at ?? '')).toBe(38);
  await report({ side: 'one', day: 36, shown: [] });
  expect((await findings('one'))[1]).toMatchObject({ status: 'verified' });
});

it('decisions stay on the finding that they were made about, in a chain of merges that is made and undone twice', async () => {
  const given = await repositories();
  for (const [n, side] of SIDES.entries()) await given.report({ side, day: 2 + n, shown: [1] });
  const decide = async (side: Side, body: object) =>
    expect(await send('PATCH', `/findings/${(await given.findings(side))[1]?.id}`, body)).toMatchObject({ status: 200 });
  await decide('one', { status: 'false_positive', justification: 'code_not_reachable' });
  await decide('two', { status: 'risk_accepted', reason: 'for now', owner: 'ada', expires_at: new Date(Date.now() + 86_400_000).toISOString() });
  await decide('three', { severity: 'low', reason: 'not reachable' });
  for (const day of [10, 20]) {
    await given.merge(['three', 'two']);
    await given.report({ side: 'three', day, shown: [1] });
    await given.merge(['two', 'one']);
    await given.report({ side: 'two', day: day + 1, shown: [1] });
    await given.report({ side: 'one', day: day + 2, shown: [] });
    await given.report({ side: 'one', day: day + 3, shown: [1] });
    await given.unmergeAll();
    expect((await given.findings('one'))[1]).toMatchObject({ status: 'false_positive', severity: 'high', decisions: [{ state: 'active' }] });
    expect((await given.findings('two'))[1]).toMatchObject({ status: 'risk_accepted', severity: 'high', decisions: [{ state: 'active' }] });
    expect((await given.findings('three'))[1]).toMatchObject({ status: 'open', severity: 'low', decisions: [] });
  }
});

it('an accepted risk that rose in a report about its own repository is open, whichever was open while they were one', async () => {
  const given = await repositories();
  await given.report({ side: 'one', day: 2, shown: [1], severity: 'low' });
  const acceptance = { status: 'risk_accepted', reason: 'for now', owner: 'ada', expires_at: new Date(Date.now() + 86_400_000).toISOString() };
  expect(await send('PATCH', `/findings/${(await given.findings('one'))[1]?.id}`, acceptance)).toMatchObject({ status: 200 });
  await given.report({ side: 'two', day: 3, shown: [1], severity: 'low' });
  await given.merge(['two', 'one']);
  await given.report({ side: 'one', day: 4, shown: [1], severity: 'critical' });
  await given.unmergeAll();
  expect((await given.findings('one'))[1]).toMatchObject({ status: 'open', reason_code: 'risk_increased', severity: 'critical' });
  expect((await given.findings('two'))[1]).toMatchObject({ status: 'open', severity: 'low' });
});

const pairs: readonly (readonly [Side, Side])[] = [
  ['one', 'two'],
  ['two', 'three'],
  ['three', 'one'],
];
const report = fc.record({
  side: fc.constantFrom(...SIDES),
  day: fc.integer({ min: 2, max: 38 }),
  shown: fc.subarray([1, 2]),
  severity: fc.constantFrom<Severity>('low', 'critical'),
  source: fc.constantFrom('tool_a' as const, 'tool_b' as const),
});
const merge = fc.constantFrom(...pairs.map((pair) => ({ merge: pair })));
const unmerge = fc.constantFrom(...SIDES.map((side) => ({ unmerge: side })));
const steps = fc.tuple(merge, fc.array(fc.oneof({ weight: 4, arbitrary: report }, merge, unmerge), { minLength: 5, maxLength: 11 }));

it('after any merges nothing is closed that would be open without them, and each was seen when its own reports showed it', LAW, async () => {
  expect(await send('PATCH', '/organization', { policy: { brake: { share: 1, count: 1_000_000 } } })).toMatchObject({ status: 200 });
  await fc.assert(
    fc.asyncProperty(steps, async ([first, others]) => {
      const [apart, merged] = [await after([first, ...others], { apart: true }), await after([first, ...others])];
      for (const side of SIDES) {
        const [expected, shown] = [await apart.findings(side), await merged.findings(side)];
        const seenOf = (all: Record<string, Shown>) => Object.entries(all).map(([n, one]) => [n, dayShown(one.first_seen), dayShown(one.last_seen)]);
        expect(seenOf(shown)).toEqual(seenOf(expected));
        for (const [n, { status }] of Object.entries(expected)) if (status === 'open') expect({ [n]: shown[n] }).toMatchObject({ [n]: { status } });
      }
    }),
    histories(3),
  );
});
