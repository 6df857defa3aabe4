import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../shared/ids.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';

type State = [state: 'present' | 'absent' | 'unknown', suppressed: boolean];
/** What the sources report about each finding, by its title. */
const SIGHTINGS: Record<string, State[]> = {
  plain: [['present', false]],
  ignored: [['present', true]],
  'ignored by both': [
    ['present', true],
    ['present', true],
  ],
  'ignored by one': [
    ['present', true],
    ['present', false],
  ],
  'ignored by the one that still sees it': [
    ['present', true],
    ['absent', false],
  ],
  'ignored once': [['absent', true]],
};
const SUPPRESSED = ['ignored', 'ignored by both', 'ignored by the one that still sees it'];

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  for (const [title, sightings] of Object.entries(SIGHTINGS)) {
    const body = { title, severity: 'high', asset: { type: 'host', name: 'web.example.com' } };
    const { id } = (await api.call('POST', '/api/v1/findings', { as: api.ours.owner, body })).body as { id: string };
    await api.db.withTenant({ orgId: api.ours.id }, async (tx) => {
      const made = await tx.selectFrom('sightings').selectAll().where('finding_id', '=', id).executeTakeFirstOrThrow();
      for (const [index, [state, suppressed]] of sightings.entries()) {
        const source = index === 0 ? made.source_id : newId();
        if (index > 0) await tx.insertInto('sources').values({ org_id: api.ours.id, id: source, kind: 'import', provider: 'trivy', name: source }).execute();
        const absent = state === 'absent' ? ({ absence: 'gone', absent_at: new Date() } as const) : { absence: null, absent_at: null };
        const values = { ...made, source_id: source, state, suppressed, ...absent, said: null };
        await tx
          .insertInto('sightings')
          .values(values)
          .onConflict((known) => known.columns(['org_id', 'finding_id', 'source_id', 'track']).doUpdateSet({ state, suppressed, ...absent }))
          .execute();
      }
    });
  }
});
afterAll(() => api?.close());

const NOT_SUPPRESSED = Object.keys(SIGHTINGS).filter((title) => !SUPPRESSED.includes(title));

const get = async <T>(path: string): Promise<T> => (await api.call('GET', `/api/v1${path}`, { as: api.ours.owner })).body as T;
const list = async (query: string) => (await get<{ data: { id: string; title: string; suppressed: boolean }[] }>(`/findings?sort=first_seen&${query}`)).data;
const titles = (some: { title: string }[]): string[] => some.map(({ title }) => title).sort();

it('is shown in lists and single findings', async () => {
  const all = await list('');
  expect(titles(all.filter(({ suppressed }) => suppressed))).toEqual(SUPPRESSED);
  for (const { id, suppressed } of all) expect(await get(`/findings/${id}`)).toMatchObject({ suppressed });
});

it('is a filter of lists, exports and bulk changes', async () => {
  expect(titles(await list('suppressed=true'))).toEqual(SUPPRESSED);
  expect(titles([...(await list('suppressed=true&status=open')), ...(await list('suppressed=false&severity=high'))])).toEqual(Object.keys(SIGHTINGS).sort());
  const lines = (await get<string>('/findings/export?format=ndjson&suppressed=true')).trim().split('\n');
  expect(titles(lines.map((line) => JSON.parse(line)))).toEqual(SUPPRESSED);
  const body = { filter: { suppressed: false }, change: { status: 'in_progress' }, dry_run: true };
  expect(await api.call('POST', '/api/v1/findings/bulk', { as: api.ours.owner, body })).toMatchObject({ body: { counts: { matched: 3, changed: 3 } } });
});

it('is never overdue, and is counted apart', async () => {
  const late = sql`now() - interval '1 day'`;
  await api.db.withTenant({ orgId: api.ours.id }, (tx) => sql`update findings set due_at = ${late}, risk_score = least(risk_score, 50)`.execute(tx));
  const all = await get<{ data: { title: string; overdue: boolean; asset: { id: string } }[] }>('/findings');
  expect(titles(all.data.filter(({ overdue }) => overdue))).toEqual(NOT_SUPPRESSED.sort());
  for (const filter of ['overdue', 'fix_first']) {
    for (const others of ['', '&severity=high', '&status=open&source=manual']) {
      expect(titles(await list(`${filter}=true${others}`)), filter).toEqual(NOT_SUPPRESSED.sort());
      expect(titles(await list(`${filter}=false${others}`)), filter).toEqual(SUPPRESSED);
    }
  }
  for (const query of ['', 'severity=high']) {
    const { trend, ...stats } = await get<{ trend: { sla: object }[] }>(`/findings/stats?${query}`);
    expect(stats).toMatchObject({ active: 6, overdue: 3, suppressed: 3, by_severity: { high: { active: 6, overdue: 3 } } });
    expect(trend.at(-2)?.sla).toEqual({ due: 3, met: 0, missed: 3 });
  }
  expect(await get('/findings/facets?by=overdue')).toMatchObject({
    data: {
      overdue: [
        { value: 'true', count: 3 },
        { value: 'false', count: 3 },
      ],
    },
  });
  expect(await get(`/assets/${all.data[0]?.asset.id}`)).toMatchObject({ findings: { active: 6, overdue: 3 } });
  const rows = (await get<string>('/findings/export?format=csv&overdue=true')).trim().split('\n');
  expect(rows).toHaveLength(1 + NOT_SUPPRESSED.length);
});
