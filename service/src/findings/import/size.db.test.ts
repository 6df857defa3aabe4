import type { Asset, Observation } from '@rrs/scan-reports';
import { expect, it } from 'vitest';
import { type Item, seen, useImports } from '../../testing/findings/imports.ts';

const engine = useImports();
const hostOf = (n: number): Asset => ({ type: 'host', name: `host${n}.example.com` });
const SIZE = 8_000;
const found: readonly Observation[] = Array.from({ length: SIZE }, (_, n) =>
  seen({ asset: hostOf(n % 20), vulnerability_ids: [`CVE-2024-${10_000 + n}`], location: { component: `lib${n}`, version: '1.0' } }),
);

/**
 * A new organization has no statistics, so the planner expects one row everywhere. A statement that then compares each row with each other one takes
 * minutes at this size. All limits are relative to other imports, because machines differ.
 */
it('the first import of a new organization takes its share of time, and later ones are not slower', { timeout: 300_000 }, async () => {
  const scanner =
    (org: string) =>
    async (items: readonly Item[], hour: number, source: 'tool_a' | 'tool_b' = 'tool_a') => {
      const scope = { coverage: 'complete', started_at: new Date(Date.UTC(2026, 0, 1, hour)).toISOString() } as const;
      const id = await engine.start(org, items, { source, scope });
      const began = performance.now();
      await engine.attempt(org, id);
      return { ms: performance.now() - began, row: await engine.read(org, id) };
    };
  const severe = (items: readonly Observation[]): Item[] => items.map((item) => ({ ...item, severity: 'critical' }));
  const small = await scanner(await engine.organization())(found.slice(0, SIZE / 10), 1);
  const scan = scanner(await engine.organization());
  const first = await scan(found, 1);
  expect(first.ms / small.ms).toBeLessThan(20);
  expect(first.row).toMatchObject({ created: SIZE });
  const again = await scan(found, 2);
  expect(again.row).toMatchObject({ unchanged: SIZE, closed: 0 });
  const fewer = await scan(found.slice(SIZE / 10), 3);
  expect(fewer.row).toMatchObject({ unchanged: SIZE * 0.9, closed: SIZE / 10 });
  const other = await scan(found.slice(SIZE * 0.9), 4, 'tool_b');
  expect(other.row).toMatchObject({ updated: SIZE / 10 });
  expect(Math.max(again.ms, fewer.ms, other.ms)).toBeLessThan(first.ms);

  // Now the statistics know one organization, and say that no other has any findings.
  const beside = scanner(await engine.organization());
  const tenth = found.slice(0, SIZE / 10);
  const times = [];
  for (const [hour, items] of [tenth, tenth, severe(tenth), severe(tenth.slice(SIZE / 20))].entries()) times.push((await beside(items, hour + 1)).ms);
  expect(Math.max(...times)).toBeLessThan(first.ms / 2);
});
