import { expect, it } from 'vitest';
import { type Item, image, inLib, useImports } from '../../testing/findings/imports.ts';
import { someOrders } from '../../testing/findings/orders.ts';

const engine = useImports();

const day = (n: number): string => `2026-01-0${n + 1}T12:00:00.000Z`;
const times = `select f.status, f.closed_at, f.status_changed_at, s.absent_at, i.scan_scope->>'started_at' as closed_by from findings f
  join sightings s on s.org_id = f.org_id and s.finding_id = f.id join imports i on i.org_id = s.org_id and i.id = s.last_import_id where f.org_id = $1`;

async function scan(org: string, n: number, items: readonly Item[]): Promise<void> {
  await engine.run(org, items, { scope: { coverage: 'complete', asset: image, started_at: day(n) } });
}

/** Each letter is the complete scan of a day: `+` shows the finding. */
it.each([
  ['+--', 1],
  ['+---', 1],
  ['+-+-', 3],
  ['++--', 2],
])('a finding is closed since the first scan that no longer showed it, in every order: %s', async (scans, closed) => {
  for (const order of someOrders([...scans].map((sign, n) => ({ sign, n })))) {
    const org = await engine.organization();
    for (const { sign, n } of order) await scan(org, n, sign === '+' ? [inLib('a')] : []);
    const at = new Date(day(closed));
    const { rows } = await engine.admin().query(times, [org]);
    expect(rows, order.map(({ n }) => n).join()).toEqual([{ status: 'verified', closed_at: at, status_changed_at: at, absent_at: at, closed_by: day(closed) }]);
  }
});

it('a scan from before a claim does not take the place of the one that proved it', async () => {
  const org = await engine.organization();
  await scan(org, 0, [inLib('a')]);
  await engine.admin().query(`update findings set status = 'remediated', assurance = 'declared', status_changed_at = $2 where org_id = $1`, [org, day(2)]);
  await scan(org, 3, []);
  await scan(org, 1, []);
  const at = new Date(day(3));
  expect((await engine.admin().query(times, [org])).rows).toEqual([
    { status: 'verified', closed_at: at, status_changed_at: at, absent_at: at, closed_by: day(3) },
  ]);
});
