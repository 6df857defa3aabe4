import type { Asset } from '@rrs/scan-reports';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';
import { histories, LAW } from '../../testing/findings/laws.ts';

const service = useImportsWithApi();
const { get, send } = service;

const names = ['one', 'two'] as const;
type Name = (typeof names)[number];
type Report = { does: 'report'; name: Name; track: 'prod' | 'live'; day: number; shown: number[] };
type Step =
  | Report
  | { does: 'merge_assets' }
  | { does: 'merge_tracks'; name: Name }
  | { does: 'merge_findings'; name: Name; from: number; into: number }
  | { does: 'undo'; nth: number };
const name = fc.constantFrom(...names);
const report = fc.record({
  does: fc.constant('report' as const),
  name,
  track: fc.constantFrom('prod', 'live'),
  day: fc.integer({ min: 2, max: 30 }),
  shown: fc.subarray([1, 2, 3]),
});
const merge = fc.oneof(
  fc.record({ does: fc.constant('merge_assets' as const) }),
  fc.record({ does: fc.constant('merge_tracks' as const), name }),
  fc.record({ does: fc.constant('merge_findings' as const), name, from: fc.integer({ min: 1, max: 3 }), into: fc.integer({ min: 1, max: 3 }) }),
);
const undo = fc.record({ does: fc.constant('undo' as const), nth: fc.nat(4) });
const history: fc.Arbitrary<Step[]> = fc.array(fc.oneof({ arbitrary: report, weight: 4 }, { arbitrary: merge, weight: 2 }, { arbitrary: undo, weight: 1 }), {
  minLength: 5,
  maxLength: 14,
});

const shownOnAnotherTrack: Step[] = [
  { does: 'report', name: 'one', track: 'live', day: 2, shown: [1, 2] },
  { does: 'report', name: 'one', track: 'live', day: 3, shown: [] },
  { does: 'merge_findings', name: 'one', from: 2, into: 1 },
  { does: 'report', name: 'one', track: 'prod', day: 4, shown: [1, 2] },
];
const mergedWhileAssetsWere: Step[] = [
  { does: 'merge_assets' },
  { does: 'report', name: 'two', track: 'prod', day: 3, shown: [] },
  { does: 'report', name: 'one', track: 'prod', day: 2, shown: [2, 3] },
  { does: 'merge_findings', name: 'one', from: 2, into: 3 },
  { does: 'undo', nth: 0 },
];
const shownWhileTracksWereMerged: Step[] = [
  { does: 'report', name: 'one', track: 'prod', day: 2, shown: [1] },
  { does: 'report', name: 'one', track: 'live', day: 4, shown: [2] },
  { does: 'merge_tracks', name: 'one' },
  { does: 'merge_findings', name: 'one', from: 2, into: 1 },
  { does: 'report', name: 'one', track: 'live', day: 21, shown: [1, 2] },
  { does: 'report', name: 'one', track: 'live', day: 30, shown: [] },
  { does: 'report', name: 'one', track: 'prod', day: 12, shown: [1, 2] },
];
const goneByAScanOfTheOtherAssetsTrack: Step[] = [
  { does: 'report', name: 'two', track: 'live', day: 2, shown: [1] },
  { does: 'merge_assets' },
  { does: 'report', name: 'one', track: 'live', day: 3, shown: [] },
  { does: 'merge_tracks', name: 'one' },
  { does: 'report', name: 'one', track: 'prod', day: 23, shown: [2] },
  { does: 'report', name: 'one', track: 'live', day: 14, shown: [2, 3] },
  { does: 'merge_findings', name: 'two', from: 1, into: 3 },
  { does: 'report', name: 'one', track: 'prod', day: 16, shown: [1] },
];

let count = 0;
/** Two repositories with two environments each, and what can be merged of them. No two scans are at the same time: which of them counts is arbitrary. */
function repositories() {
  const n = ++count;
  const repository = (name: Name): Asset => ({ type: 'repository', name: `https://git.example.com/while-${n}/${name}` });
  const cve = (k: number) => `CVE-2026-${10_000 + 10 * n + k}`;
  let minute = 0;
  const scan = async ({ name, track, day, shown }: Omit<Report, 'does'>) => {
    const asset = repository(name);
    const items = shown.map((k) => seen({ asset, vulnerability_ids: [cve(k)], location: { component: `lib-${k}` } }));
    const scope = { coverage: 'complete' as const, track, started_at: new Date(Date.UTC(2026, 0, day, 0, minute++)).toISOString() };
    expect(await service.run([...items, { run: { asset } }], { scope })).toMatchObject({ status: 'succeeded' });
  };
  const assetOf = async (name: Name) => (await get<{ data: { id: string }[] }>(`/assets?name=git.example.com/while-${n}/${name}`)).data[0]?.id ?? '';
  const findingsOf = async (asset: string) =>
    (await get<{ data: { id: string; status: string; cves: string[] }[] }>(`/findings?asset_id=${asset}&limit=100`)).data;
  return { scan, assetOf, findingsOf, cve };
}

it('what was merged for a while and is separate again has nothing that is wrongly proven, and hides nothing', LAW, async () => {
  expect(await send('PATCH', '/organization', { policy: { brake: { share: 1, count: 1_000_000 } } })).toMatchObject({ status: 200 });
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const run = async (isMerged: boolean) => {
        const { scan, assetOf, findingsOf, cve } = repositories();
        for (const name of names) for (const track of ['prod', 'live'] as const) await scan({ name, track, day: 1, shown: [4] });
        const assets = { one: await assetOf('one'), two: await assetOf('two') };
        const undos: (() => Promise<number>)[] = [];
        const post = async (path: string, into: string, undoPath: (kept: string) => string) => {
          const { status, body } = await send('POST', path, { into, reason: 'one' });
          expect([200, 404, 409, 422]).toContain(status);
          if (status === 200) undos.push(async () => (await send('POST', undoPath((body as { id: string }).id), { reason: 'separate' })).status);
        };
        const undo = async (nth: number) => {
          const status = await undos[nth]?.();
          expect([undefined, 200, 409]).toContain(status);
          if (status === 200) undos.splice(nth, 1);
        };
        for (const step of steps) {
          if (step.does === 'report') await scan(step);
          if (!isMerged) continue;
          if (step.does === 'undo') await undo(step.nth);
          if (step.does === 'merge_assets') await post(`/assets/${assets.two}/merge`, assets.one, () => `/assets/${assets.two}/unmerge`);
          if (step.does === 'merge_tracks') {
            const tracks = `/assets/${assets[step.name]}/tracks/live`;
            await post(`${tracks}/merge`, 'prod', () => `${tracks}/unmerge`);
          }
          if (step.does === 'merge_findings') {
            const found = await findingsOf(assets[step.name]);
            const [from, into] = [step.from, step.into].map((k) => found.find(({ cves }) => cves.includes(cve(k)))?.id);
            if (from !== undefined && into !== undefined && from !== into) {
              await post(`/findings/${from}/merge`, into, (kept) => `/findings/${kept === from ? into : from}/split`);
            }
          }
        }
        for (let last = -1; undos.length > 0 && undos.length !== last; ) {
          last = undos.length;
          for (const n of [...undos.keys()].toReversed()) await undo(n);
        }
        const all = await Promise.all(
          names.map(async (name) => (await findingsOf(assets[name])).flatMap(({ status, cves }) => cves.map((id) => ({ id: `${name} ${id.at(-1)}`, status })))),
        );
        return all.flat();
      };
      const [apart, merged] = [await run(false), await run(true)];
      const withStatus = (all: typeof apart, isOpen: boolean) => all.flatMap(({ id, status }) => ((status === 'open') === isOpen ? [id] : []));
      const open = withStatus(apart, true);
      expect(withStatus(merged, false).filter((id) => open.includes(id))).toEqual([]);
      // What a person merged on one of two assets that were one is one finding on the other as well, until its next report.
      const one = steps.flatMap((step) => (step.does === 'merge_findings' ? [step.from, step.into] : []));
      expect(withStatus(merged, true)).toEqual(expect.arrayContaining(open.filter((id) => !one.includes(Number(id.at(-1))))));
    }),
    { ...histories(3), examples: [[shownOnAnotherTrack], [mergedWhileAssetsWere], [shownWhileTracksWereMerged], [goneByAScanOfTheOtherAssetsTrack]] },
  );
});

it('assets are separated once findings are that a person had merged before, and that both assets have', async () => {
  const { scan, assetOf, findingsOf, cve } = repositories();
  await scan({ name: 'one', track: 'prod', day: 2, shown: [3] });
  await scan({ name: 'two', track: 'prod', day: 2, shown: [2, 3] });
  const [one, two] = [await assetOf('one'), await assetOf('two')];
  const found = await findingsOf(two);
  const idOf = (k: number) => found.find(({ cves }) => cves.includes(cve(k)))?.id ?? '';
  const [fromId, intoId] = [idOf(3), idOf(2)];
  const reason = 'one';
  const merged = await send('POST', `/findings/${fromId}/merge`, { into: intoId, reason });
  const gone = (merged.body as { id: string }).id === intoId ? fromId : intoId;
  expect(await send('POST', `/assets/${two}/merge`, { into: one, reason })).toMatchObject({ status: 200 });
  await scan({ name: 'two', track: 'live', day: 3, shown: [3] });
  const unmerge = () => send('POST', `/assets/${two}/unmerge`, { reason });
  expect(await unmerge()).toMatchObject({ status: 409, body: { detail: expect.stringMatching(`^The finding "${gone}" was merged .* Split it first\\.$`) } });
  expect(await send('POST', `/findings/${gone}/split`, { reason })).toMatchObject({ status: 200 });
  expect(await unmerge()).toMatchObject({ status: 200 });
  const stateOf = async (asset: string) => (await findingsOf(asset)).map(({ cves, status }) => `${cves[0]} ${status}`).sort();
  expect(await stateOf(one)).toEqual([`${cve(3)} open`]);
  expect(await stateOf(two)).toEqual([`${cve(2)} open`, `${cve(3)} open`]);
});
