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
  severity: string;
  merged_into: string | null;
  sightings: { source: { provider: string }; state: string; reported: { title: string } }[];
  decisions: { state: string; ended_reason: string | null }[];
  work_items: { id: string }[];
}
const read = (id: string): Promise<Shown> => get<Shown>(`/findings/${id}`);
const merge = (id: string, into: string) => send('POST', `/findings/${id}/merge`, { into, reason: 'one library' });
const split = (id: string) => send('POST', `/findings/${id}/split`, { reason: 'two libraries' });

/** Two findings of one asset in two components. The first one is older. By default two tools report them. */
async function twoFindings(sources: readonly [ImportOptions['source'], ImportOptions['source']] = ['tool_a', 'tool_b']) {
  const cve = `CVE-2026-${40_000 + ++count}`;
  const asset: Asset = { type: 'container_image', name: `merge-${count}:prod` };
  const one = seen({ asset, vulnerability_ids: [cve], location: { component: 'libfoo' }, title: 'first', severity: 'low', tags: ['one'] });
  const other = seen({ asset, vulnerability_ids: [cve], location: { component: 'foo' }, title: 'second', severity: 'critical', tags: ['two'] });
  await scan(asset, [one], 1, sources[0]);
  await scan(asset, sources[0] === sources[1] ? [one, other] : [other], 2, sources[1]);
  const { data } = await get<{ data: (Shown & { title: string })[] }>(`/findings?cve=${cve}&sort=created_at`);
  const [older, newer] = data.map(({ id }) => id) as [string, string];
  expect(data.map(({ title }) => title)).toEqual(['first', 'second']);
  return { cve, asset, one, other, older, newer, list: async () => (await get<{ data: Shown[] }>(`/findings?cve=${cve}`)).data.map(({ id }) => id) };
}

const acceptance = { status: 'risk_accepted', reason: 'not reachable', owner: 'Ada', expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString() };

it('an id that a tool uses for a second place hides neither place', async () => {
  const cve = `CVE-2026-${40_000 + ++count}`;
  const asset: Asset = { type: 'container_image', name: `twice-${count}:prod` };
  const at = (component: string, severity: 'low' | 'critical') =>
    seen({ asset, vulnerability_ids: [cve], external_id: 'X-1', location: { component, path: `${component}.jar` }, severity });
  await scan(asset, [at('libfoo', 'low')], 1);
  for (const day of [2, 3]) {
    await scan(asset, [at('libfoo', 'low'), at('foo', 'critical')], day);
    const { data } = await get<{ data: Shown[] }>(`/findings?cve=${cve}`);
    const places = await Promise.all(data.map(({ id }) => get<{ data: { state: string; location: { path: string } }[] }>(`/findings/${id}/occurrences`)));
    const present = places.flatMap((page) => page.data).filter(({ state }) => state === 'present');
    expect(present.map(({ location }) => location.path).sort()).toEqual(['foo.jar', 'libfoo.jar']);
    expect(data.map(({ severity }) => severity)).toContain('critical');
  }
});

describe('findings that a person merges', () => {
  it('become one, with what both sources say and the least closed status', async () => {
    const { older, newer, list } = await twoFindings();
    await send('PATCH', `/findings/${older}`, acceptance);
    const merged = await merge(older, newer);
    expect(merged).toMatchObject({
      status: 200,
      body: { id: older, status: 'open', reason_code: 'merged', severity: 'critical', tags: ['one', 'two'], acceptance: null },
    });
    const kept = await read(older);
    expect(kept.sightings.map(({ source, reported }) => [source.provider, reported.title])).toEqual([
      ['tool_a', 'first'],
      ['tool_b', 'second'],
    ]);
    expect(kept.decisions).toMatchObject([{ state: 'ended', ended_reason: 'merged' }]);
    expect(await read(newer)).toMatchObject({ merged_into: older, status: 'withdrawn', reason_code: 'merged', sightings: [] });
    expect(await list()).toEqual([older]);
    expect(await send('PATCH', `/findings/${newer}`, { tags: ['x'] })).toMatchObject({ status: 409, body: { detail: expect.stringContaining(older) } });
  });

  it('keep an acceptance if that is the least closed status', async () => {
    const { older, newer } = await twoFindings();
    await send('PATCH', `/findings/${older}`, { status: 'false_positive', justification: 'code_not_reachable' });
    await send('PATCH', `/findings/${newer}`, acceptance);
    await merge(newer, older);
    expect(await read(older)).toMatchObject({ status: 'risk_accepted', acceptance: { state: 'active', owner: 'Ada' }, justification: null });
    expect((await read(older)).decisions.map(({ state }) => state)).toEqual(['active', 'ended']);
  });

  it('keep decisions on the places of both, and a split gives each its own', async () => {
    const cve = `CVE-2026-${40_000 + ++count}`;
    const asset: Asset = { type: 'container_image', name: `merge-${count}:prod` };
    const at = (component: string, path: string) => seen({ asset, vulnerability_ids: [cve], location: { component, path } });
    await scan(asset, [at('libfoo', 'a/lib.jar'), at('foo', 'b/lib.jar')], 1);
    const { data } = await get<{ data: Shown[] }>(`/findings?cve=${cve}&sort=created_at`);
    const ids = data.map(({ id }) => id);
    for (const id of ids) await send('PATCH', `/findings/${id}`, { status: 'false_positive', justification: 'code_not_reachable' });
    expect(await merge(ids[0] ?? '', ids[1] ?? '')).toMatchObject({ status: 200 });
    const [kept = ''] = (await get<{ data: Shown[] }>(`/findings?cve=${cve}`)).data.map(({ id }) => id);
    const merged = ids.find((id) => id !== kept) ?? '';
    await scan(
      asset,
      [
        { ...at('libfoo', 'a/lib.jar'), title: 'x' },
        { ...at('foo', 'b/lib.jar'), title: 'x' },
      ],
      2,
    );
    expect(await read(kept)).toMatchObject({ status: 'false_positive' });
    expect(await split(merged)).toMatchObject({ status: 200 });
    for (const id of ids) expect(await read(id)).toMatchObject({ status: 'false_positive' });
    // A decision does not cover the place of the other one any more.
    await scan(asset, [at('libfoo', 'b/lib.jar'), at('foo', 'b/lib.jar')], 3);
    const statuses = await Promise.all(ids.map(async (id) => (await read(id)).status));
    expect(statuses.toSorted()).toEqual(['false_positive', 'open']);
  });

  it('keep the severity and the places of both while one report shows both', async () => {
    const cve = `CVE-2026-${40_000 + ++count}`;
    const asset: Asset = { type: 'container_image', name: `merge-${count}:prod` };
    const at = (component: string, path: string, severity: 'low' | 'critical', title: string) =>
      seen({ asset, vulnerability_ids: [cve], location: { component, path }, severity, title });
    const both = (title: string) => [at('libfoo', 'a/lib.jar', 'low', title), at('foo', 'b/lib.jar', 'critical', title)];
    await scan(asset, both('x'), 1);
    const ids = (await get<{ data: Shown[] }>(`/findings?cve=${cve}&sort=created_at`)).data.map(({ id }) => id);
    expect(await merge(ids[0] ?? '', ids[1] ?? '')).toMatchObject({ status: 200 });
    const [kept = ''] = (await get<{ data: Shown[] }>(`/findings?cve=${cve}`)).data.map(({ id }) => id);
    const present = async () =>
      (await get<{ data: { state: string; location: { path: string } }[] }>(`/findings/${kept}/occurrences`)).data
        .filter(({ state }) => state === 'present')
        .map(({ location }) => location.path)
        .sort();
    for (const [day, title] of ['y', 'z', 'y', 'x'].entries()) {
      await scan(asset, both(title), 2 + day);
      expect(await read(kept)).toMatchObject({ status: 'open', severity: 'critical' });
      expect(await present()).toEqual(['a/lib.jar', 'b/lib.jar']);
    }
    await scan(asset, both('x').slice(0, 1), 7);
    expect(await read(kept)).toMatchObject({ status: 'open', severity: 'low' });
    expect(await present()).toEqual(['a/lib.jar']);
  });

  it.each([
    ['false_positive', { status: 'false_positive', justification: 'inaccurate_finding', reason: 'looked at' }],
    ['risk_accepted', acceptance],
  ])('keep a decision about both when the report that has both comes again: %s', async (status, patch) => {
    const asset: Asset = { type: 'container_image', name: `merge-${++count}:prod` };
    const at = (component: string, path: string, title: string) =>
      seen({ asset, vulnerability_ids: [`CVE-2026-${40_000 + count}`], location: { component, path }, title });
    const both = (title: string) => [at('libfoo', 'a/lib.jar', title), at('foo', 'b/lib.jar', title)];
    await scan(asset, both('x'), 1);
    const [one = '', other = ''] = (await get<{ data: Shown[] }>(`/findings?asset=merge-${count}&sort=created_at`)).data.map(({ id }) => id);
    expect(await merge(other, one)).toMatchObject({ status: 200 });
    const [kept = ''] = (await get<{ data: Shown[] }>(`/findings?asset=merge-${count}`)).data.map(({ id }) => id);
    const places = async (id: string) =>
      (await get<{ data: { location: { path: string } }[] }>(`/findings/${id}/occurrences`)).data.map(({ location }) => location.path).sort();
    expect(await places(kept)).toEqual(['a/lib.jar', 'b/lib.jar']);
    expect(await read(kept)).toMatchObject({ occurrence_count: 2 });
    await send('PATCH', `/findings/${kept}`, patch);
    for (const [day, title] of ['x', 'x', 'y'].entries()) {
      await scan(asset, both(title), 2 + day);
      expect(await read(kept)).toMatchObject({ status });
    }
    await split(kept === one ? other : one);
    expect([await places(one), await places(other)].sort()).toEqual([['a/lib.jar'], ['b/lib.jar']]);
  });

  it('are closed only when no source of either sees them', async () => {
    const { asset, older, newer } = await twoFindings();
    await merge(newer, older);
    await scan(asset, [], 5, 'tool_b');
    expect(await read(older)).toMatchObject({ status: 'open', severity: 'low' });
    await scan(asset, [], 5, 'tool_a');
    expect(await read(older)).toMatchObject({ status: 'verified' });
  });

  it('stay one when the same report comes again', async () => {
    const { asset, other, older, newer, list } = await twoFindings();
    await merge(newer, older);
    expect(await scan(asset, [other], 6, 'tool_b')).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
    expect(await list()).toEqual([older]);
  });

  it('that one source reports stand for both records', async () => {
    const { older, newer } = await twoFindings(['tool_a', 'tool_a']);
    await merge(newer, older);
    expect((await read(older)).sightings).toHaveLength(1);
    const { rows } = await service.engine.admin().query('select records from sightings where finding_id = $1', [older]);
    expect(rows).toEqual([{ records: 2 }]);
  });

  it('keep what weakens the proof of the statement that stays, and of no other one', async () => {
    const { asset, other, older, newer } = await twoFindings(['tool_a', 'tool_a']);
    await scan(asset, [other], 3, 'tool_a');
    expect((await read(older)).sightings).toMatchObject([{ state: 'absent', gaps: [{ code: 'knowledge_unstated' }] }]);
    await merge(newer, older);
    expect((await read(older)).sightings).toMatchObject([{ state: 'present', gaps: [] }]);
  });

  it('move to the work items of the merged one', async () => {
    const { older, newer } = await twoFindings();
    const { body } = await send('POST', '/work-items', { title: 'upgrade', finding_ids: [newer] });
    const { id } = body as { id: string };
    await merge(newer, older);
    expect((await read(older)).work_items).toMatchObject([{ id }]);
    expect(await get(`/work-items/${id}`)).toMatchObject({ status: 'open', findings: { open: 1, excepted: 0 } });
    await split(newer);
    expect((await read(newer)).work_items).toMatchObject([{ id }]);
    expect(await get(`/work-items/${id}`)).toMatchObject({ findings: { open: 2 } });
  });
});

describe('a split', () => {
  it('gives both back what they had', async () => {
    for (const sources of [
      ['tool_a', 'tool_b'],
      ['tool_a', 'tool_a'],
    ] as const) {
      const { older, newer, list } = await twoFindings(sources);
      await send('PATCH', `/findings/${older}`, acceptance);
      await send('PATCH', `/findings/${newer}`, { status: 'in_progress' });
      const shown = ({ status, severity, sightings, decisions }: Shown) => ({
        status,
        severity,
        sightings: sightings.map(({ state, source, reported }) => [state, source.provider, reported.title]),
        decisions: decisions.map(({ state }) => state),
      });
      const before = [shown(await read(older)), shown(await read(newer))];
      await merge(older, newer);
      expect(await read(older)).toMatchObject({ status: 'in_progress' });
      expect(await split(newer)).toMatchObject({ status: 200, body: { id: newer, merged_into: null } });
      expect([shown(await read(older)), shown(await read(newer))]).toEqual(before);
      expect((await list()).toSorted()).toEqual([older, newer].toSorted());
      const { data } = await get<{ data: object[] }>(`/findings/${newer}/history`);
      expect(data).toEqual(expect.arrayContaining([expect.objectContaining({ action: 'split', reason: 'two libraries' })]));
    }
  });

  it('does not reopen what scans have shown to be gone since', async () => {
    const { asset, older, newer } = await twoFindings();
    await merge(newer, older);
    await scan(asset, [], 5, 'tool_a');
    await scan(asset, [], 5, 'tool_b');
    await split(newer);
    expect([await read(older), await read(newer)]).toMatchObject([{ status: 'verified' }, { status: 'verified', assurance: 'scan_only' }]);
  });

  it('leaves both gone if a scan of the source of both showed neither', async () => {
    const { asset, one, older, newer } = await twoFindings(['tool_a', 'tool_a']);
    await merge(newer, older);
    await scan(asset, [one], 3);
    await scan(asset, [], 4);
    await split(newer);
    for (const id of [older, newer]) expect(await read(id)).toMatchObject({ status: 'verified', sightings: [{ state: 'absent' }] });
  });

  it('closes the one that no source sees any more, if the other one kept it open', async () => {
    const { asset, other, older, newer } = await twoFindings();
    await merge(newer, older);
    await scan(asset, [], 3, 'tool_a');
    await scan(asset, [other], 4, 'tool_b');
    expect(await read(older)).toMatchObject({ status: 'open' });
    await split(newer);
    expect(await read(older)).toMatchObject({ status: 'verified', last_seen: expect.stringContaining('2026-01-01') });
    expect(await read(newer)).toMatchObject({ status: 'open', last_seen: expect.stringContaining('2026-01-04') });
  });

  it('separates chains of merges one by one', async () => {
    const { asset, cve, older, newer } = await twoFindings();
    await scan(asset, [seen({ asset, vulnerability_ids: [cve], location: { component: 'third' }, title: 'third' })], 3, 'tool_c');
    const { data } = await get<{ data: Shown[] }>(`/findings?cve=${cve}&sort=-created_at`);
    const third = data[0]?.id ?? '';
    await merge(third, newer);
    await merge(newer, older);
    expect(await read(third)).toMatchObject({ merged_into: older });
    expect((await read(older)).sightings).toHaveLength(3);
    await split(newer);
    expect(await read(third)).toMatchObject({ merged_into: newer });
    expect([(await read(older)).sightings.length, (await read(newer)).sightings.length]).toEqual([1, 2]);
    await split(third);
    expect([(await read(newer)).sightings.length, (await read(third)).sightings.length]).toEqual([1, 1]);
  });
});

describe('a merge is refused', () => {
  it('for one finding, findings of two assets, and findings that are merged', async () => {
    const [a, b] = [await twoFindings(), await twoFindings()];
    expect(await merge(a.older, a.older)).toMatchObject({ status: 422 });
    expect(await merge(a.older, b.older)).toMatchObject({ status: 422, body: { detail: expect.stringContaining('different assets') } });
    expect(await split(a.older)).toMatchObject({ status: 409 });
    await merge(a.older, a.newer);
    expect(await merge(a.older, a.newer)).toMatchObject({ status: 409 });
    expect(await merge(a.newer, a.older)).toMatchObject({ status: 409 });
  });

  it('for findings of another organization, and for viewers', async () => {
    const { older, newer } = await twoFindings();
    const { api } = service;
    const body = { into: older, reason: 'not mine' };
    for (const path of ['merge', 'split']) {
      const sent = path === 'merge' ? body : { reason: 'not mine' };
      expect(await api().call('POST', `/api/v1/findings/${newer}/${path}`, { as: api().theirs.owner, body: sent })).toMatchObject({ status: 404 });
      expect(await api().call('POST', `/api/v1/findings/${newer}/${path}`, { as: await api().ours.key('viewer'), body: sent })).toMatchObject({ status: 403 });
    }
    const theirs = await api().call('POST', '/api/v1/findings', {
      as: api().theirs.owner,
      body: { title: 'theirs', severity: 'low', asset: { type: 'host', name: 'theirs.example' } },
    });
    expect(await merge(newer, (theirs.body as Shown).id)).toMatchObject({ status: 404 });
  });
});

describe('the identity of a finding', () => {
  it('shows its aliases, the identifiers of its asset, the ids of tools and its merges', async () => {
    const { older, newer, asset, cve, one } = await twoFindings();
    const ghsa = `GHSA-aaaa-bbbb-${String(count).padStart(4, '0')}`;
    await scan(asset, [{ ...one, vulnerability_ids: [cve, ghsa], external_id: 'tool-7' }], 3, 'tool_c');
    await merge(newer, older);
    await split(newer);
    expect(await get(`/findings/${older}/identity`)).toMatchObject({
      id: older,
      weakness: cve,
      aliases: [ghsa],
      asset: { type: 'container_image', identifiers: [{ kind: 'name', value: expect.stringContaining(`merge-${count}`) }] },
      tool_ids: [{ source: { provider: 'tool_c' }, track: 'prod', external_id: 'tool-7' }],
      rules: [{ kind: 'by_person', finding_id: newer, into_id: older, reason: 'one library', revoked_at: expect.any(String) }],
    });
    const { api } = service;
    expect(await api().call('GET', `/api/v1/findings/${older}/identity`, { as: api().theirs.owner })).toMatchObject({ status: 404 });
  });
});
