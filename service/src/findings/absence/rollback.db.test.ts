import type { Asset } from '@rrs/scan-reports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seen, useImports } from '../../testing/findings/imports.ts';
import { histories, LAW } from '../../testing/findings/laws.ts';
import { someOrders } from '../../testing/findings/orders.ts';

const engine = useImports();

/** A complete scan of the tag `prod`, a day after the one before. The builds are those that the tag named in turn. */
interface Scan {
  build: 'a' | 'b' | 'c';
  shows: boolean;
}
const scans = (text: string): Scan[] => text.split(' ').map(([build = 'a', sign]) => ({ build, shows: sign === '+' }) as Scan);
const imageOf = ({ build }: Scan): Asset => ({
  type: 'container_image',
  name: 'registry.example.com/shop:prod',
  identifiers: [{ kind: 'digest', value: `sha256:${build.repeat(64)}` }],
});

/** The status of the finding after the scans were imported in an order. */
async function statusAfter(all: readonly Scan[], order: readonly number[]): Promise<string> {
  const org = await engine.organization();
  for (const day of order) {
    const scan = all[day];
    if (!scan) throw new Error(`no scan ${day}`);
    const asset = imageOf(scan);
    const found = [...(scan.shows ? ['CVE-2024-0001'] : []), 'CVE-2024-0002'].map((id) =>
      seen({ asset, vulnerability_ids: [id], location: { component: `lib-${id}` } }),
    );
    await engine.run(org, [...found, { run: { asset } }], {
      scope: { coverage: 'complete', started_at: new Date(Date.UTC(2026, 0, 1 + day, 12)).toISOString() },
    });
  }
  const { rows } = await engine.admin().query("select status from findings where org_id = $1 and weakness = 'CVE-2024-0001'", [org]);
  expect(rows.length).toBeLessThan(2);
  return rows[0]?.status ?? 'none';
}

/** The first scan without the finding after the last one with it decides: nothing was fixed if an earlier scan of the same build had shown it. */
function expected(all: readonly Scan[]): string {
  const last = all.findLastIndex(({ shows }) => shows);
  const without = all[last + 1];
  if (last === -1) return 'none';
  if (without === undefined) return 'open';
  return all.slice(0, last + 1).some(({ build, shows }) => shows && build === without.build) ? 'withdrawn' : 'verified';
}

const inOrder = (all: readonly Scan[]): number[] => [...all.keys()];

describe('a finding that an earlier build comes back without', () => {
  it.each([
    ['a+ b+ a-', 'withdrawn'],
    ['a+ b+ c+ a-', 'withdrawn'],
    ['a+ b- a+ b-', 'verified'],
    ['a+ b- a+ c-', 'verified'],
    ['a+ b- c+ a-', 'withdrawn'],
    ['a+ b- b- a+ b-', 'verified'],
    ['a+ a- b-', 'withdrawn'],
    ['a+ b- a-', 'verified'],
    ['a+ a+ b- a-', 'verified'],
  ])('was fixed only if no scan of that build had shown it, in any order: %s', LAW, async (text, status) => {
    const all = scans(text);
    expect(expected(all)).toBe(status);
    for (const order of someOrders(inOrder(all), 5)) expect(await statusAfter(all, order), order.join()).toBe(status);
  });

  it('is judged alike in every order of any scans', LAW, async () => {
    const scan = fc.record<Scan>({ build: fc.constantFrom('a', 'b', 'c'), shows: fc.boolean() });
    const ordered = fc
      .array(scan, { minLength: 3, maxLength: 5 })
      .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(inOrder(all), { minLength: all.length })));
    await fc.assert(
      fc.asyncProperty(ordered, async ([all, order]) => {
        expect(await statusAfter(all, order)).toBe(expected(all));
      }),
      {
        ...histories(8),
        examples: [
          [[scans('a+ b+ a-'), [0, 1, 2]]],
          // The scan that was the first without the finding arrived after a later one that proves as much.
          [[scans('a+ a- b- a- a-'), [3, 4, 0, 1, 2]]],
          [[scans('a+ b- a- c-'), [0, 3, 1, 2]]],
          // Between the first two scans that arrived, there was a third one.
          [[scans('a+ a+ b+ a+ b-'), [3, 1, 0, 2, 4]]],
        ],
      },
    );
  });
});

it.each([
  ['alone', (build: string) => ({ version: `sha256:${build.repeat(64)}`, track: 'prod' })],
  ['behind a tag', (build: string) => ({ version: `prod@sha256:${build.repeat(64)}` })],
] as const)('the digest that a pipeline states as the version tells the build, %s', async (_name, scopeOf) => {
  for (const [build, status] of [
    ['a', 'withdrawn'],
    ['b', 'verified'],
  ] as const) {
    const org = await engine.organization();
    const asset: Asset = { type: 'container_image', name: 'registry.example.com/shop' };
    const scan = (day: number, components: readonly string[], scope: object) =>
      engine.run(org, [...components.map((component) => seen({ asset, location: { component } })), { run: { asset } }], {
        scope: { coverage: 'complete', started_at: new Date(Date.UTC(2026, 0, day, 12)).toISOString(), ...scope },
      });
    await scan(1, ['lib', 'other'], scopeOf('a'));
    await scan(2, ['other'], scopeOf(build));
    const { rows } = await engine.admin().query("select status from findings where org_id = $1 and status <> 'open'", [org]);
    expect(rows).toEqual([{ status }]);
  }
});
