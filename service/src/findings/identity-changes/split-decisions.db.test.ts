import type { Asset } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { get, scan, send } = service;
let count = 0;

interface Shown {
  id: string;
  status: string;
  decisions: { state: string; ended_reason: string | null }[];
}
const read = (id: string): Promise<Shown> => get<Shown>(`/findings/${id}`);

/** A finding about which a person has decided, and one that is open, of two tools. */
async function decidedAndOpen(decision: object) {
  const cve = `CVE-2026-${70_000 + ++count}`;
  const asset: Asset = { type: 'container_image', name: `split-${count}:prod` };
  const at = (...paths: readonly string[]) =>
    paths.map((path) => seen({ asset, vulnerability_ids: [cve], location: { component: 'libfoo', path }, severity: 'low' }));
  const other = seen({ asset, vulnerability_ids: [cve], location: { component: 'foo' } });
  await scan(asset, at('a/lib.jar'), 1, 'tool_a');
  await scan(asset, [other], 2, 'tool_b');
  const { data } = await get<{ data: Shown[] }>(`/findings?cve=${cve}&sort=created_at`);
  const [decided, open] = data.map(({ id }) => id) as [string, string];
  expect(await send('PATCH', `/findings/${decided}`, decision)).toMatchObject({ status: 200 });
  expect(await send('POST', `/findings/${open}/merge`, { into: decided, reason: 'one library' })).toMatchObject({ status: 200, body: { status: 'open' } });
  return { asset, at, decided, split: () => send('POST', `/findings/${open}/split`, { reason: 'two libraries' }) };
}
const falsePositive = { status: 'false_positive', justification: 'code_not_reachable' };
const acceptance = { status: 'risk_accepted', reason: 'not reachable', owner: 'Ada', expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString() };

describe('a decision about a finding that was one with an open one for a while', () => {
  it('applies again if reports have shown nothing new', async () => {
    for (const body of [falsePositive, acceptance]) {
      const { asset, at, decided, split } = await decidedAndOpen(body);
      await scan(asset, at('a/lib.jar'), 3, 'tool_a');
      await split();
      expect(await read(decided)).toMatchObject({ status: body.status, decisions: [{ state: 'active' }] });
    }
  });

  it('does not accept a risk that has risen meanwhile', async () => {
    const { asset, at, decided, split } = await decidedAndOpen(acceptance);
    await scan(
      asset,
      at('a/lib.jar').map((one) => ({ ...one, severity: 'critical' })),
      3,
      'tool_a',
    );
    await split();
    expect(await read(decided)).toMatchObject({
      status: 'open',
      reason_code: 'risk_increased',
      decisions: [{ state: 'ended', ended_reason: 'risk_increased' }],
    });
  });

  it('does not cover places that were reported first meanwhile', async () => {
    const { asset, at, decided, split } = await decidedAndOpen(falsePositive);
    await scan(asset, at('a/lib.jar', 'b/lib.jar'), 3, 'tool_a');
    await split();
    expect(await read(decided)).toMatchObject({ status: 'open', reason_code: 'new_occurrence' });
    await scan(asset, at('a/lib.jar'), 4, 'tool_a');
    expect(await read(decided)).toMatchObject({ status: 'false_positive', decisions: [{ state: 'active' }] });
  });

  it.each([
    ['false_positive', falsePositive],
    ['risk_accepted', acceptance],
  ])('applies again when it comes back, if both were gone while they were one: %s', async (status, body) => {
    for (const scope of ['places', 'finding']) {
      const { asset, at, decided, split } = await decidedAndOpen({ ...body, scope });
      await scan(asset, [], 3, 'tool_a');
      await scan(asset, [], 3, 'tool_b');
      expect(await read(decided)).toMatchObject({ status: 'verified' });
      await split();
      expect(await read(decided)).toMatchObject({ status: 'verified' });
      await scan(asset, at('a/lib.jar'), 4, 'tool_a');
      expect(await read(decided)).toMatchObject({ status });
    }
  });
});
