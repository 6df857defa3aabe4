import type { Asset, RunFacts } from '@rrs/scan-reports';
import { observation } from '@rrs/scan-reports/normalize.ts';
import { describe, expect, it } from 'vitest';
import { type ImportOptions, type Item, inLib, seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { finding, get, send } = service;

const at = (day: number): string => new Date(Date.UTC(2026, 0, day, 12)).toISOString();
let count = 0;
/** Another weakness for each test. */
const cve = (): string => `CVE-2026-${10_000 + ++count}`;
const imageOf = (name: string): Asset => ({ type: 'container_image', name });
const scan = (asset: Asset, items: readonly Item[], day: number, options: { source?: ImportOptions['source']; run?: RunFacts; coverage?: 'partial' } = {}) =>
  service.run([...items, { run: { asset, ...options.run } }], {
    ...(options.source ? { source: options.source } : {}),
    scope: { coverage: options.coverage ?? 'complete', started_at: at(day) },
  });

interface Shown {
  id: string;
  status: string;
  references: string[];
  description: string | null;
  sightings: { source: { provider: string }; track: string; state: string; reported: Record<string, unknown>; missed: unknown; absence: string | null }[];
  still_open_because: { code: string; sentence: string; track: string; import_id: string | null }[];
  versions: { track: string; name: string }[];
  occurrence_count: number;
  occurrences: { place: string; location: { path: string | null } }[];
}

interface Scored {
  kev: { listed: boolean; due_date: string | null };
  exploit_maturity: string;
  risk: { score: number; factors: { name: string; source: string | null; points: number }[] };
}

describe('what each source says', () => {
  it('is shown next to the merged values', async () => {
    const id = cve();
    const asset = imageOf(`says-${count}:prod`);
    const vulnerability_ids = [id];
    const a = seen({
      asset,
      vulnerability_ids,
      severity: 'low',
      title: 'A of one tool',
      cwes: [79],
      description: 'from a',
      references: ['https://a.example/'],
    });
    const b = seen({
      asset,
      vulnerability_ids,
      severity: 'critical',
      title: 'B of another',
      cwes: [89],
      references: ['https://b.example/', 'https://a.example/'],
      location: { component: 'lib', version: '1.0', fixed_version: '1.1', path: 'app/lib.jar' },
    });
    await scan(asset, [a], 1);
    const alone = await finding<Shown>(id);
    expect(alone.sightings).toMatchObject([
      { track: 'prod', state: 'present', reported: { title: 'A of one tool', severity: 'low', cwes: [79], version: null } },
    ]);
    await scan(asset, [b], 2, { source: 'tool_b' });
    const both = await finding<Shown>(id);
    expect(both).toMatchObject({ title: 'B of another', severity: 'critical', cwes: [79, 89] });
    expect(both.sightings).toMatchObject([
      { source: { provider: 'tool_a' }, reported: { title: 'A of one tool', severity: 'low', cwes: [79], version: null, fixed_version: null, cvss: null } },
      {
        source: { provider: 'tool_b' },
        reported: { title: 'B of another', severity: 'critical', cwes: [89], version: '1.0', fixed_version: '1.1', path: 'app/lib.jar' },
      },
    ]);
    expect(both.references.toSorted()).toEqual(['https://a.example/', 'https://b.example/']);
  });

  it('includes how far exploits are, whether there is a fix, and the build with its commit', async () => {
    const id = cve();
    const asset: Asset = { type: 'repository', name: `https://git.example.com/says-${count}`, commit: '3f2c9d1e', ref: 'main' };
    const given = {
      asset,
      vulnerability_ids: [id],
      exploit_maturity: 'functional' as const,
      fix_state: 'available' as const,
      fix_published_date: '2024-05-06',
      epss: { score: 0.25 },
    };
    await scan(asset, [seen(given)], 1);
    expect(await finding<Shown>(id)).toMatchObject({
      versions: [{ track: 'main', commit: '3f2c9d1e' }],
      sightings: [
        { track: 'main', reported: { exploit_maturity: 'functional', fix_state: 'available', fix_published_date: '2024-05-06', epss: { score: 0.25 } } },
      ],
    });
  });

  it('counts what is used in attacks as exploited, and names the report as the source', async () => {
    const id = cve();
    const asset = imageOf(`attacked-${count}:prod`);
    const given = { place: 'line', tool: 'tool', title: 'A weakness', severity: 'low' as const, asset, vulnerability_ids: [id] };
    await scan(asset, [observation({ ...given, exploit_maturity: 'functional' })], 1);
    const { risk: before } = await finding<Scored>(id);
    expect(before.factors[2]).toMatchObject({ name: 'known_exploited', source: null, points: 0 });
    await scan(asset, [observation({ ...given, exploit_maturity: 'attacked' })], 2);
    const { kev, exploit_maturity, risk } = await finding<Scored>(id);
    expect({ kev, exploit_maturity }).toEqual({ kev: { listed: true, due_date: null }, exploit_maturity: 'attacked' });
    expect(risk.factors[2]).toMatchObject({ name: 'known_exploited', source: 'report', points: 75 });
    expect(risk.score).toBeCloseTo(risk.factors.reduce((sum, { points }) => sum + points, 0));
  });

  it('keeps the severity of the source when a person overrides it', async () => {
    const id = cve();
    const asset = imageOf(`override-${count}:prod`);
    await scan(asset, [seen({ asset, vulnerability_ids: [id], severity: 'low' })], 1);
    const { id: findingId } = await finding(id);
    await send('PATCH', `/findings/${findingId}`, { severity: 'critical', reason: 'internet facing' });
    expect(await finding<Shown>(id)).toMatchObject({ severity: 'critical', sightings: [{ reported: { severity: 'low' } }] });
  });
});

describe('why a finding is still open', () => {
  it('says that the last scan reports it, and on which build', async () => {
    const id = cve();
    const name = `open-${count}`;
    const [first, second] = [imageOf(`${name}:1.4.2`), imageOf(`${name}:1.4.3`)];
    await scan(first, [seen({ asset: first, vulnerability_ids: [id] })], 1);
    const { id: last } = await scan(second, [seen({ asset: second, vulnerability_ids: [id] })], 2);
    const shown = await finding<Shown>(id);
    expect(shown.still_open_because).toMatchObject([{ code: 'still_reported', import_id: last, at: at(2) }]);
    expect(shown.versions).toMatchObject([{ name: '1.4.3' }]);
    expect(shown.sightings).toMatchObject([{ last_seen: at(2) }]);
  });

  it('names what speaks against a scan that did not show it, until one shows it again', async () => {
    const id = cve();
    const asset = imageOf(`blocked-${count}:prod`);
    const it = seen({ asset, vulnerability_ids: [id] });
    await scan(asset, [it], 1, { run: { credentialed: true } });
    const { id: missing } = await scan(asset, [], 3, { run: { credentialed: false } });
    const shown = await finding<Shown>(id);
    expect(shown.status).toBe('open');
    expect(shown.still_open_because).toMatchObject([{ code: 'not_credentialed', import_id: missing, at: at(3) }]);
    expect(shown.still_open_because[0]?.sentence).toMatch(/^A scan no longer reports the finding, but .*\.$/);
    expect(shown.sightings).toMatchObject([{ state: 'present', missed: { at: at(3), import_id: missing, because: [{ code: 'not_credentialed' }] } }]);
    await scan(asset, [it], 5, { run: { credentialed: true } });
    expect(await finding<Shown>(id)).toMatchObject({ sightings: [{ missed: null }], still_open_because: [{ code: 'still_reported' }] });
  });

  it('says if the source has not scanned for long, and what the scan that closed it did not state', async () => {
    const id = cve();
    const asset = imageOf(`stale-${count}:prod`);
    await scan(asset, [seen({ asset, vulnerability_ids: [id] })], 1);
    expect(await finding<Shown>(id)).toMatchObject({ still_open_because: [{ code: 'still_reported', stale: true }], sightings: [{ gaps: [] }] });
    await service.run([seen({ asset, vulnerability_ids: [id] }), { run: { asset } }]);
    expect(await finding<Shown>(id)).toMatchObject({ still_open_because: [{ stale: false }] });
    await service.run([{ run: { asset } }], { scope: { coverage: 'complete' } });
    const gaps = [{ code: 'time_unstated', sentence: expect.stringMatching(/^The report does not say when/) }, { code: 'knowledge_unstated' }];
    expect(await finding<Shown>(id)).toMatchObject({ status: 'verified', sightings: [{ gaps }] });
  });

  it('says that no complete scan came since', async () => {
    const id = cve();
    const asset = imageOf(`partial-${count}:prod`);
    await scan(asset, [seen({ asset, vulnerability_ids: [id] })], 1);
    await scan(asset, [inLib('other', { asset, vulnerability_ids: [cve()] })], 3, { coverage: 'partial' });
    const shown = await finding<Shown>(id);
    expect(shown.still_open_because).toMatchObject([{ code: 'no_complete_scan', at: at(1) }]);
  });

  it('has an entry for each track that still has it, and none once it is closed', async () => {
    const id = cve();
    const name = `tracks-${count}`;
    const [prod, staging] = [imageOf(`${name}:prod`), imageOf(`${name}:staging`)];
    await scan(prod, [seen({ asset: prod, vulnerability_ids: [id] })], 1);
    await scan(staging, [seen({ asset: staging, vulnerability_ids: [id] })], 1);
    expect((await finding<Shown>(id)).still_open_because.map(({ track }) => track).toSorted()).toEqual(['prod', 'staging']);
    await scan(prod, [], 2);
    const half = await finding<Shown>(id);
    expect(half.still_open_because).toMatchObject([{ track: 'staging', code: 'still_reported' }]);
    expect(half.sightings.find(({ track }) => track === 'prod')).toMatchObject({ state: 'absent', absence: 'gone', absent_at: at(2) });
    await scan(staging, [], 2);
    expect(await finding<Shown>(id)).toMatchObject({ status: 'verified', still_open_because: [] });
  });

  it('says that the scan which no longer shows it took place before the claim, or that a report only calls it fixed', async () => {
    const claimed = cve();
    const asset = imageOf(`claimed-${count}:prod`);
    await scan(asset, [seen({ asset, vulnerability_ids: [claimed] })], 1);
    const { id } = await finding<Shown>(claimed);
    await send('PATCH', `/findings/${id}`, { status: 'remediated', reason: 'patched' });
    const { id: earlier } = await scan(asset, [], 2);
    expect(await finding<Shown>(claimed)).toMatchObject({
      status: 'remediated',
      still_open_because: [{ code: 'scan_before_claim', import_id: earlier, at: at(2) }],
    });
    await service.run([{ run: { asset } }], { scope: { coverage: 'complete', started_at: new Date().toISOString() } });
    expect(await finding<Shown>(claimed)).toMatchObject({ status: 'verified', assurance: 'scan_after_claim', still_open_because: [] });
    const declared = cve();
    const other = imageOf(`declared-${count}:prod`);
    await scan(other, [seen({ asset: other, vulnerability_ids: [declared] })], 3);
    await scan(other, [seen({ asset: other, vulnerability_ids: [declared], present: false })], 4);
    expect(await finding<Shown>(declared)).toMatchObject({ status: 'remediated', still_open_because: [{ code: 'declared_fixed' }] });
  });

  it('says that a person reported it', async () => {
    const body = { title: 'by hand', severity: 'high', asset: { type: 'host', name: 'by-hand.example' } };
    expect((await send('POST', '/findings', body)).body).toMatchObject({
      still_open_because: [{ code: 'reported_by_person', track: 'default', import_id: null }],
    });
  });

  it('says that the closure waits for confirmation', async () => {
    const id = cve();
    const asset = imageOf(`withheld-${count}:prod`);
    const many = Array.from({ length: 12 }, (_, n) => inLib(`lib-${n}`, { asset, vulnerability_ids: [id], location: { component: `lib-${n}`, version: '1' } }));
    await scan(asset, many, 1, { source: 'tool_c' });
    const row = await scan(asset, [], 2, { source: 'tool_c' });
    expect(row.status).toBe('needs_confirmation');
    const { data } = await get<{ data: { id: string }[] }>(`/findings?cve=${id}&limit=1`);
    expect(await get(`/findings/${data[0]?.id}`)).toMatchObject({ status: 'open', still_open_because: [{ code: 'closure_withheld', import_id: row.id }] });
  });
});

describe('occurrences', () => {
  it('are the place of a sighting, or the rows of one with several places', async () => {
    const id = cve();
    const asset = imageOf(`places-${count}:prod`);
    await scan(asset, [seen({ asset, vulnerability_ids: [id] })], 1);
    await scan(asset, [seen({ asset, vulnerability_ids: [id] })], 1, { source: 'tool_b' });
    const { id: findingId } = await finding(id);
    const [org, admin] = [service.api().ours.id, service.engine.admin()];
    const ofTool = `(select id from sources where org_id = $1 and provider = $2)`;
    await admin.query('delete from occurrences where org_id = $1 and finding_id = $2', [org, findingId]);
    await admin.query(
      `update sightings set place = 'app/one.jar', said = said || '{"location": {"path": "app/one.jar"}}' where org_id = $1 and finding_id = $3 and source_id = ${ofTool}`,
      [org, 'tool_a', findingId],
    );
    await admin.query(`update sightings set place = null where org_id = $1 and finding_id = $3 and source_id = ${ofTool}`, [org, 'tool_b', findingId]);
    await admin.query(
      `insert into occurrences (org_id, finding_id, source_id, track, place, label, location, state, first_seen, last_seen)
       select $1, $3, ${ofTool}, s.track, sha256(n::text::bytea), 'app/' || lpad(n::text, 3, '0'), jsonb_build_object('path', 'app/' || n), 'present', now(), now()
       from generate_series(1, 120) n, sightings s where s.org_id = $1 and s.finding_id = $3 and s.source_id = ${ofTool}`,
      [org, 'tool_b', findingId],
    );
    const shown = await get<Shown>(`/findings/${findingId}`);
    expect(shown.occurrence_count).toBe(121);
    expect(shown.occurrences).toHaveLength(100);
    expect(shown.occurrences[0]).toMatchObject({
      place: 'app/001',
      location: { path: 'app/1' },
      source: { provider: 'tool_b' },
      track: 'prod',
      state: 'present',
    });
    const places: string[] = [];
    let cursor = '';
    do {
      const { data, page } = await get<{ data: { place: string }[]; page: { next_cursor: string | null; total: { count: number } } }>(
        `/findings/${findingId}/occurrences?limit=50&total=exact${cursor}`,
      );
      expect(page.total.count).toBe(121);
      places.push(...data.map(({ place }) => place));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(new Set(places).size).toBe(121);
    expect(places).toEqual([...places].sort());
    expect(places.at(-1)).toBe('app/one.jar');
  });

  it('belong to the organization', async () => {
    const { body } = await send('POST', '/findings', { title: 'ours', severity: 'low', asset: { type: 'host', name: 'ours.example' } });
    const path = `/api/v1/findings/${(body as Shown).id}/occurrences`;
    const { api } = service;
    expect(await api().call('GET', path, { as: api().theirs.owner })).toMatchObject({ status: 404 });
    expect(await api().call('GET', path, { as: await api().ours.key('viewer') })).toMatchObject({ status: 200 });
  });
});
