import type { Asset, Observation } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { type ImportOptions, seen, useImports } from '../../testing/findings/imports.ts';

const engine = useImports();
const repository: Asset = { type: 'repository', name: 'https://git.example.com/shop' };

const day = (n: number): string => new Date(Date.UTC(2026, 0, n)).toISOString();
const findingsOf = async (org: string) => (await engine.admin().query('select * from findings where org_id = $1 order by weakness', [org])).rows;

interface Step {
  items: Observation[];
  day: number;
  source?: ImportOptions['source'];
  complete?: boolean;
}

/** Imports the reports into a new organization. */
async function imported(steps: readonly Step[]): Promise<string> {
  const org = await engine.organization();
  for (const { items, day: n, source, complete } of steps) {
    const scope = {
      started_at: day(n),
      coverage: complete ? ('complete' as const) : ('partial' as const),
      asset: { type: repository.type, name: repository.name },
    };
    expect(await engine.run(org, items, { scope, ...(source ? { source } : {}) })).toMatchObject({ status: 'succeeded' });
  }
  return org;
}

describe('a finding has what all records of a report about it say', () => {
  const page = (path: string, given: Partial<Observation>) =>
    seen({ asset: repository, rule: 'xss', location: { url: `https://shop.example.com${path}` }, ...given });
  const records = [page('/a', { severity: 'high', cwes: [79] }), page('/b', { severity: 'low', cwes: [80, 79] }), page('/c', { severity: 'low', cwes: [116] })];

  it.each([[records], [records.toReversed()]])('its CWEs, in any order', async (items) => {
    const org = await imported([{ items, day: 1 }]);
    expect(await findingsOf(org)).toMatchObject([{ severity: 4, cwes: [79, 80, 116] }]);
  });

  it('its CWEs, also of a later report and next to another tool', async () => {
    const org = await imported([
      { items: records.slice(0, 1), day: 1 },
      { items: records, day: 2 },
    ]);
    expect(await findingsOf(org)).toMatchObject([{ cwes: [79, 80, 116] }]);
    const both = await imported([
      { items: records, day: 1 },
      { items: [page('/a', { cwes: [20] })], day: 2, source: 'tool_b' },
      { items: records.slice(0, 1), day: 3 },
    ]);
    expect(await findingsOf(both)).toMatchObject([{ cwes: [20, 79] }]);
  });

  it('its ids', async () => {
    const lib = (severity: Observation['severity'], path: string, ...vulnerability_ids: string[]) =>
      seen({ asset: repository, severity, vulnerability_ids, location: { component: 'lib', path } });
    const org = await imported([{ items: [lib('critical', 'a.jar', 'CVE-2024-0001'), lib('low', 'b.jar', 'CVE-2024-0001', 'GHSA-aaaa-bbbb-cccc')], day: 1 }]);
    expect(await findingsOf(org)).toMatchObject([{ vulnerability_ids: ['CVE-2024-0001', 'GHSA-aaaa-bbbb-cccc'] }]);
  });
});
