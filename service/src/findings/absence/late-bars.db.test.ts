import { expect, it } from 'vitest';
import { seen, useImports } from '../../testing/findings/imports.ts';
import { LAW } from '../../testing/findings/laws.ts';
import { someOrders } from '../../testing/findings/orders.ts';

/** How able a scan must be that proves a finding gone, whatever the order in which scans arrive. */
const engine = useImports();

const asset = { type: 'host', name: 'web.example.com' } as const;
const finding = seen({ asset, vulnerability_ids: ['CVE-2024-0001'] });
const other = seen({ asset, vulnerability_ids: ['CVE-2024-0002'] });
const at = (day: number): string => new Date(Date.UTC(2026, 0, day, 12)).toISOString();

/** For example "2u+": on day 2, an unable scan with the finding. An able one is "c". */
async function statusAfter(scans: readonly string[], able: 'credentialed' | 'knowledge_at'): Promise<string | undefined> {
  const org = await engine.organization();
  for (const scan of scans) {
    const [day, isAble] = [Number(scan[0]), scan[1] === 'c'];
    const facts = able === 'credentialed' ? { credentialed: isAble } : { knowledge_at: new Date(isAble ? '2025-12-31' : '2025-06-30') };
    const items = [...(scan[2] === '+' ? [finding] : []), other, { run: { asset, ...facts } }];
    await engine.run(org, items, { scope: { coverage: 'complete', started_at: at(day) } });
  }
  return (await engine.findings(org)).find(({ weakness }) => weakness === 'CVE-2024-0001')?.status;
}

it.each([
  // It was gone and is back, and only able scans have seen it since.
  ['2u+ 3u- 5c+ 6u-', 'open'],
  ['2u+ 3u- 5c+ 6u- 7c-', 'verified'],
])('a scan proves what it is able to see, in any order: %s is %s', LAW, async (text, status) => {
  for (const able of ['credentialed', 'knowledge_at'] as const) {
    for (const order of someOrders(text.split(' '), 4))
      expect(`${able} ${order.join(' ')}: ${await statusAfter(order, able)}`).toBe(`${able} ${order.join(' ')}: ${status}`);
  }
});
