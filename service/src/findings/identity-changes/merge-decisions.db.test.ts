import type { Asset } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { type ImportOptions, seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { get, scan, send } = service;
let count = 0;

interface Shown {
  id: string;
  status: string;
  reason_code: string | null;
  decisions: { kind: string; state: string; ended_reason: string | null }[];
}
type Tool = NonNullable<ImportOptions['source']>;
type Said = Partial<Parameters<typeof seen>[0]>;

/** Two findings that become one: by whom, and reported by one tool or two. */
const WAYS = [
  ['by hand', ['tool_a', 'tool_b']],
  ['by hand', ['tool_a', 'tool_a']],
  ['alias', ['tool_a', 'tool_b']],
  ['assets', ['tool_a', 'tool_a']],
] as const;
const falsePositive = { status: 'false_positive', justification: 'code_not_reachable' };
const acceptance = { status: 'risk_accepted', reason: 'not reachable', owner: 'Ada', expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString() };

async function twoFindings(way: (typeof WAYS)[number][0], [firstTool, secondTool]: readonly [Tool, Tool], paths = ['a/lib.jar', 'b/lib.jar']) {
  const n = ++count;
  const cve = `CVE-2026-${60_000 + n}`;
  const ghsa = `GHSA-aaaa-cccc-${String(n).padStart(4, '0')}`;
  const images = ['one', 'two'].map((name): Asset => ({ type: 'container_image', name: `registry.example.com/d${n}/${way === 'assets' ? name : 'one'}:prod` }));
  const [first, second] = images as [Asset, Asset];
  const one = (said: Said = {}) =>
    seen({ asset: first, vulnerability_ids: [cve], location: { component: 'libfoo', path: paths[0] ?? '' }, severity: 'low', ...said });
  const other = (said: Said = {}) =>
    seen({
      asset: second,
      vulnerability_ids: [way === 'alias' ? ghsa : cve],
      location: { component: way === 'by hand' ? 'foo' : 'libfoo', path: paths[1] ?? '' },
      severity: 'low',
      ...said,
    });
  let day = 0;
  /** Whether the alias was revoked, so that it can only be restored. */
  let known = false;
  /** Complete scans of the day that show these. */
  const scans = async (shown: { one?: Said | true; other?: Said | true }) => {
    day++;
    const ones = shown.one ? [one(shown.one === true ? {} : shown.one)] : [];
    const others = shown.other ? [other(shown.other === true ? {} : shown.other)] : [];
    if (firstTool === secondTool) await scan(first, [...ones, ...others, { run: { asset: second } }], day, firstTool);
    else {
      await scan(first, ones, day, firstTool);
      await scan(second, others, day, secondTool);
    }
  };
  await scans({ one: true });
  await scans({ one: true, other: true });
  const listed = await service.engine.admin().query<{ id: string; asset_id: string; path: string }>(
    `select f.id, f.asset_id, f.location->>'path' as path from findings f join assets a on a.org_id = f.org_id and a.id = f.asset_id
     where a.name like '%/d' || $1 || '/%' order by f.location->>'path', f.created_at, f.id`,
    [String(n)],
  );
  const [a, b] = listed.rows;
  if (!a || !b) throw new Error(`${listed.rows.length} findings`);
  const kept = async (): Promise<Shown> => {
    const both = await Promise.all([a.id, b.id].map((id) => get<Shown & { merged_into: string | null }>(`/findings/${id}`)));
    const left = both.filter(({ merged_into }) => merged_into === null);
    expect(left).toHaveLength(1);
    return left[0] as Shown;
  };
  const must = async (answer: Promise<{ status: number; body: unknown }>) =>
    expect((await answer).status, JSON.stringify((await answer).body)).toBeLessThan(300);
  return {
    scans,
    kept,
    read: (which: 'one' | 'other') => get<Shown>(`/findings/${which === 'one' ? a.id : b.id}`),
    decide: (which: 'one' | 'other', body: object) => must(send('PATCH', `/findings/${which === 'one' ? a.id : b.id}`, body)),
    merge: () =>
      must(
        way === 'by hand'
          ? send('POST', `/findings/${b.id}/merge`, { into: a.id, reason: 'one library' })
          : way === 'alias'
            ? known
              ? send('POST', `/vulnerability-aliases/${ghsa}/restore`, { reason: 'checked again' })
              : send('POST', '/vulnerability-aliases', { alias: ghsa, vulnerability: cve, reason: 'the advisory says so' })
            : send('POST', `/assets/${b.asset_id}/merge`, { into: a.asset_id, reason: 'one image' }),
      ),
    split: async () => {
      known = true;
      const { id } = await kept();
      const merged = id === a.id ? b : a;
      await must(
        way === 'by hand'
          ? send('POST', `/findings/${merged.id}/split`, { reason: 'two libraries' })
          : way === 'alias'
            ? send('POST', `/vulnerability-aliases/${ghsa}/revoke`, { reason: 'checked' })
            : send('POST', `/assets/${merged.asset_id}/unmerge`, { reason: 'two images' }),
      );
    },
  };
}

const active = { state: 'active' };

describe.each(WAYS)('a decision about one of two findings that become one (%s, %s)', (way, tools) => {
  const other = { one: 'other', other: 'one' } as const;

  it.each([
    ['one', falsePositive],
    ['other', acceptance],
  ] as const)('stays on its places, and hides no other one: %s, %o', async (decided, body) => {
    const { scans, decide, merge, kept } = await twoFindings(way, tools);
    await decide(decided, body);
    await merge();
    expect(await kept()).toMatchObject({ status: 'open', reason_code: 'merged', decisions: expect.arrayContaining([expect.objectContaining(active)]) });
    await scans({ one: true, other: true });
    expect(await kept()).toMatchObject({ status: 'open' });
    // What was open is fixed: only what was decided about is left.
    await scans({ [decided]: true });
    expect(await kept()).toMatchObject({ status: body.status, reason_code: 'decision_resumed' });
    await scans({ one: true, other: true });
    expect(await kept()).toMatchObject({ status: 'open', reason_code: 'new_occurrence' });
    await scans({ [other[decided]]: true });
    expect(await kept()).toMatchObject({ status: 'open' });
    await scans({});
    expect(await kept()).toMatchObject({ status: 'verified' });
    await scans({ [decided]: true });
    expect(await kept()).toMatchObject({ status: body.status });
  });

  it.each(['one', 'other'] as const)('applies to its own finding alone once they are separated, and again if they are merged again: %s', async (decided) => {
    const { scans, decide, merge, split, kept, read } = await twoFindings(way, tools);
    await decide(decided, acceptance);
    const before = [await read('one'), await read('other')];
    for (let round = 0; round < 2; round++) {
      await merge();
      expect(await kept()).toMatchObject({ status: 'open' });
      await split();
      await scans({ one: true, other: true });
      for (const [nth, which] of (['one', 'other'] as const).entries()) {
        const { status, decisions } = await read(which);
        expect([status, decisions.filter(({ state }) => state === 'active').length], which).toEqual([before[nth]?.status, which === decided ? 1 : 0]);
      }
    }
  });

  it.each(['one', 'other'] as const)('does not hide an open one at the same place: %s', async (decided) => {
    const { scans, decide, merge, kept } = await twoFindings(way, tools, ['a/lib.jar', 'a/lib.jar']);
    await decide(decided, falsePositive);
    await merge();
    for (const shown of [{ one: true }, { other: true }, { one: true, other: true }] as const) {
      await scans(shown);
      expect(await kept()).toMatchObject({ status: 'open' });
    }
  });

  it('does not accept a risk that has risen at its place meanwhile', async () => {
    const { scans, decide, merge, kept } = await twoFindings(way, tools);
    await decide('one', acceptance);
    await merge();
    await scans({ one: { severity: 'critical' }, other: true });
    await scans({ one: { severity: 'critical' } });
    expect(await kept()).toMatchObject({ status: 'open' });
    await scans({ one: true });
    expect(await kept()).toMatchObject({ status: 'risk_accepted' });
  });
});

it('an acceptance that expired while another place was open does not apply again', async () => {
  const { scans, decide, merge, kept, read } = await twoFindings('by hand', ['tool_a', 'tool_b']);
  await decide('one', acceptance);
  await merge();
  await service.engine.admin().query("update decisions set expires_at = now() - interval '1 minute' where finding_id = $1", [(await read('one')).id]);
  await scans({ one: true });
  expect(await kept()).toMatchObject({ status: 'open', reason_code: 'merged' });
});

it('reports that call one of two places fixed hide nothing at the other one, while two assets are one and afterwards', async () => {
  const n = ++count;
  const cve = `CVE-2026-${60_000 + n}`;
  const images = ['one', 'two'].map((name): Asset => ({ type: 'container_image', name: `registry.example.com/f${n}/${name}:prod` })) as [Asset, Asset];
  const [one, two] = images;
  const at = (asset: Asset, path: string, present = true) => seen({ asset, vulnerability_ids: [cve], location: { component: 'libfoo', path }, present });
  const other = (asset: Asset) => seen({ asset, vulnerability_ids: [`CVE-2026-${80_000 + n}`], location: { component: 'other' } });
  await scan(one, [at(one, 'a.jar'), other(one)], 1);
  await scan(two, [at(two, 'b.jar'), other(two)], 1);
  const idOf = async (name: string) => (await get<{ data: { id: string }[] }>(`/assets?name=registry.example.com/f${n}/${name}`)).data[0]?.id ?? '';
  const [oneId, twoId] = [await idOf('one'), await idOf('two')];
  const findingsOf = async (asset: string) => (await get<{ data: Shown[] }>(`/findings?cve=${cve}&asset_id=${asset}`)).data;
  await send('PATCH', `/findings/${(await findingsOf(oneId))[0]?.id}`, falsePositive);
  await send('POST', `/assets/${twoId}/merge`, { into: oneId, reason: 'one image' });
  for (const day of [2, 3]) {
    for (const asset of images) await scan(asset, [at(asset, 'a.jar', false), other(asset)], day);
    expect(await findingsOf(oneId)).toMatchObject([{ status: 'open' }]);
  }
  for (const asset of images) await scan(asset, [at(asset, 'a.jar', false), at(asset, 'b.jar'), other(asset)], 4);
  expect(await findingsOf(oneId)).toMatchObject([{ status: 'open' }]);
  await send('POST', `/assets/${twoId}/unmerge`, { reason: 'two images' });
  expect(await findingsOf(twoId)).toMatchObject([{ status: 'open' }]);
});
