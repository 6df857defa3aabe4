import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copiesOf } from '../../testing/findings/work-items.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import type { BulkResult } from './bulk.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

interface Finding {
  id: string;
  status: string;
  risk_score: number;
  risk: { score: number };
  version: number;
  due_at: string;
}

const as = () => ({ as: api.ours.owner });
const get = async <T = Finding>(path: string): Promise<T> => (await api.call('GET', `/api/v1${path}`, as())).body as T;
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
const bulk = (body: object, headers: Record<string, string> = {}) => api.call('POST', '/api/v1/findings/bulk', { ...as(), body, headers });

async function findings(count: number, asset: string): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const body = { title: `weak ${n}`, severity: 'high', asset: { type: 'host', name: asset }, tags: ['old'] };
    ids.push(((await api.call('POST', '/api/v1/findings', { ...as(), body })).body as Finding).id);
  }
  return ids;
}

/** The history entry and event of a change, without ids and times. */
async function traces(id: string): Promise<unknown> {
  const { data } = await get<{ data: Record<string, unknown>[] }>(`/findings/${id}/history`);
  const [event] = await api.db.withSystem((tx) =>
    tx.selectFrom('events').select(['type', 'data']).where('subject', '=', id).where('type', '<>', 'finding.created').orderBy('id', 'desc').execute(),
  );
  const finding = await get<Record<string, unknown>>(`/findings/${id}`);
  const same = ({ id: _, occurred_at: __, ...rest }: Record<string, unknown>) => rest;
  const {
    id: _,
    title,
    cves,
    sightings,
    occurrences,
    still_open_because,
    created_at,
    updated_at,
    first_seen,
    last_seen,
    due_at,
    status_changed_at,
    weakness,
    ...shown
  } = finding;
  const decisions = (finding.decisions as Record<string, unknown>[]).map(same);
  return JSON.parse(JSON.stringify({ history: data.map(same), event, shown: { ...shown, decisions } }), (key, value) =>
    key === 'acceptance_expires_at' && value ? Date.parse(value) : ['requested_at', 'decided_at', 'ended_at'].includes(key) ? typeof value : value,
  );
}

describe('a bulk change', () => {
  it('changes allowed findings and lists the refused ones, by the rules for a single finding', async () => {
    const ids = await findings(4, 'mixed.example');
    const [open, rejected, done] = ids as [string, string, string];
    await api.call('PATCH', `/api/v1/findings/${rejected}`, { ...as(), body: { status: 'false_positive', justification: 'inaccurate_finding' } });
    await api.call('PATCH', `/api/v1/findings/${done}`, { ...as(), body: { status: 'remediated', reason: 'upgraded' } });
    const unknown = '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11';
    const change = { status: 'remediated', reason: 'upgraded' };
    const wanted = {
      counts: { matched: 5, changed: 2, unchanged: 1, refused: 2 },
      refused: [
        { id: unknown, code: 'not_found' },
        { id: rejected, code: 'invalid_transition', detail: expect.stringContaining('Allowed: open.') },
      ],
    };
    const dry = await bulk({ ids: [...ids, unknown, open], change, dry_run: true });
    expect(dry).toMatchObject({ status: 200, body: { dry_run: true, ...wanted } });
    expect(await get(`/findings/${open}`)).toMatchObject({ status: 'open', version: 1 });
    expect(await bulk({ ids: [...ids, unknown, open], change })).toMatchObject({ status: 200, body: { dry_run: false, ...wanted } });
    expect(await get(`/findings/${open}`)).toMatchObject({ status: 'remediated', status_reason: 'upgraded', assurance: 'declared', version: 2 });
    expect(await bulk({ ids, change })).toMatchObject({ body: { counts: { matched: 4, changed: 0, unchanged: 3, refused: 1 } } });
  });

  it('applies new details of the same status like a single change', async () => {
    const [one, other, same] = (await findings(3, 'again.example')) as [string, string, string];
    const accepted = { status: 'risk_accepted', reason: 'behind the firewall', owner: 'ada', expires_at: inDays(30) };
    const again = { ...accepted, reason: 'still behind it', expires_at: inDays(60) };
    expect(await bulk({ ids: [one, other], change: accepted })).toMatchObject({ body: { counts: { changed: 2 } } });
    expect(await bulk({ ids: [same], change: again })).toMatchObject({ body: { counts: { changed: 1 } } });
    const lacking = await bulk({ ids: [one, same], change: { status: 'risk_accepted', owner: 'bob' } });
    expect(lacking).toMatchObject({ status: 400, body: { errors: [{ path: '/reason' }, { path: '/expires_at' }] } });
    await api.call('PATCH', `/api/v1/findings/${one}`, { ...as(), body: again });
    expect(await bulk({ ids: [other, same], change: again })).toMatchObject({ body: { counts: { changed: 1, unchanged: 1, refused: 0 } } });
    expect(await traces(other)).toEqual(await traces(one));
    expect(await get(`/findings/${other}`)).toMatchObject({ status_reason: again.reason, acceptance: { expires_at: again.expires_at }, version: 3 });
    expect(await get(`/findings/${same}`)).toMatchObject({ version: 2 });
  });

  it('records the same history and events as a single change', async () => {
    const [one, other] = (await findings(2, 'trace.example')) as [string, string];
    const change = { status: 'risk_accepted', reason: 'behind the firewall', owner: 'ada', expires_at: inDays(30), severity: 'low' };
    await api.call('PATCH', `/api/v1/findings/${one}`, { ...as(), body: change });
    expect(await bulk({ ids: [other], change })).toMatchObject({ body: { counts: { changed: 1 } } });
    expect(await traces(other)).toEqual(await traces(one));
    const audit = await get<{ data: { action: string; after: unknown }[] }>('/audit-events?limit=5');
    expect(audit.data.find(({ action }) => action === 'finding.bulk_changed')).toMatchObject({ after: { change, ids: 1, changed: 1 } });
  });

  it('changes severity, deadline and tags by filter, and the tags are found', async () => {
    await findings(3, 'filter.example');
    const answer = await bulk({
      filter: { asset: 'filter.' },
      change: { severity: 'critical', reason: 'crown jewels', add_tags: ['Crown'], remove_tags: ['old'] },
    });
    expect(answer).toMatchObject({ status: 200, body: { counts: { matched: 3, changed: 3, unchanged: 0, refused: 0 }, refused: [] } });
    const { data } = await get<{ data: Finding[] }>('/findings?tag=crown&asset=filter.');
    expect(data).toHaveLength(3);
    for (const { id, risk_score } of data) {
      const one = await get(`/findings/${id}`);
      expect(one).toMatchObject({ severity: 'critical', tags: ['Crown'], severity_override: { source_severity: 'high', reason: 'crown jewels' } });
      expect(one.risk.score).toBeCloseTo(risk_score, 1);
    }
    expect(await get('/findings?tag=old&asset=filter.')).toMatchObject({ data: [] });
    expect(await bulk({ filter: { tag: ['crown'] }, change: { severity: null } })).toMatchObject({ body: { counts: { changed: 3 } } });
    expect(await get<{ data: Finding[] }>('/findings?tag=crown')).toMatchObject({ data: [{ severity: 'high', severity_overridden: false }, {}, {}] });
  });

  it('is rejected if it cannot apply to any finding', async () => {
    const [id] = await findings(1, 'refused.example');
    for (const [body, path] of [
      [{ ids: [id], change: { status: 'risk_accepted', reason: 'because' } }, '/owner'],
      [{ ids: [id], change: { reason: 'only' } }, '/change'],
      [{ ids: [id], filter: { kev: true }, change: { status: 'open' } }, '/ids'],
      [{ change: { status: 'open' } }, '/ids'],
      [{ ids: [id], change: { status: 'gone' } }, '/change/status'],
    ] as const) {
      expect(await bulk(body)).toMatchObject({ status: 400, body: { errors: [{ path }, ...(path === '/owner' ? [{ path: '/expires_at' }] : [])] } });
    }
  });

  it('without a reason that one of the findings needs is rejected as a whole', async () => {
    const [moved, done] = (await findings(2, 'reason.example')) as [string, string];
    await bulk({ ids: [moved], change: { status: 'in_progress' } });
    await bulk({ ids: [done], change: { status: 'remediated', reason: 'upgraded' } });
    for (const dry_run of [true, false]) {
      for (const change of [{ status: 'open' }, { severity: 'low' }, { status: 'in_progress', severity: 'low' }]) {
        const answer = await bulk({ ids: [moved, done], change, dry_run });
        expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed', errors: [{ path: '/reason', code: 'required' }] } });
      }
    }
    expect(await get(`/findings/${moved}`)).toMatchObject({ status: 'in_progress', severity: 'high', version: 2 });
    expect(await bulk({ ids: [moved], change: { status: 'open' } })).toMatchObject({ status: 200, body: { counts: { changed: 1 } } });
  });

  it('verifies the claims of others as independent, but not those of the caller', async () => {
    const [own, theirs] = (await findings(2, 'verify.example')) as [string, string];
    const claim = { status: 'remediated', reason: 'upgraded' };
    await bulk({ ids: [own], change: claim });
    await api.call('POST', '/api/v1/findings/bulk', { as: await api.ours.key('analyst'), body: { ids: [theirs], change: claim } });
    const answer = await bulk({ ids: [own, theirs], change: { status: 'verified' } });
    expect(answer).toMatchObject({ body: { counts: { changed: 1, refused: 1 }, refused: [{ id: own, code: 'conflict' }] } });
    expect(await get(`/findings/${theirs}`)).toMatchObject({ status: 'verified', assurance: 'independent' });
  });

  it('is applied once per Idempotency-Key, and not to another organization', async () => {
    const [id] = (await findings(1, 'once.example')) as [string];
    const body = { ids: [id], change: { status: 'in_progress' } };
    const theirs = await api.call('POST', '/api/v1/findings/bulk', { as: api.theirs.owner, body });
    expect(theirs).toMatchObject({ body: { counts: { changed: 0, refused: 1 }, refused: [{ code: 'not_found' }] } });
    const [first, second] = [await bulk(body, { 'idempotency-key': 'k' }), await bulk(body, { 'idempotency-key': 'k' })];
    expect(first).toMatchObject({ body: { counts: { changed: 1 } } });
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(await get(`/findings/${id}`)).toMatchObject({ status: 'in_progress', version: 2 });
  });

  it('changes thousands of findings and lists the first thousand refusals', async () => {
    const [id] = (await findings(1, 'many.example')) as [string];
    await copiesOf(api, id, 1_999);
    const answer = await bulk({ filter: { q: 'many', status: ['open'] }, change: { status: 'in_progress', reason: 'all of them' } });
    expect(answer.body as BulkResult).toMatchObject({ counts: { matched: 2_000, changed: 2_000 } });
    const refused = (await bulk({ filter: { q: 'many' }, change: { status: 'verified' } })).body as BulkResult;
    expect(refused.counts).toEqual({ matched: 2_000, changed: 0, unchanged: 0, refused: 2_000 });
    expect(refused.refused).toHaveLength(1_000);
  });
});
