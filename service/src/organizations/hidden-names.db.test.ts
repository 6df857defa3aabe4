import { hidesText } from '@rrs/evidence-format';
import { observation } from '@rrs/scan-reports/normalize.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemActor } from '../shared/actor.ts';
import { startApi, type TestApi } from '../testing/http/api.ts';
import { createApiKey } from './api-keys/api-keys.ts';
import { addMember } from './members/members.ts';
import { createOrganization } from './organization.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const HIDING = ['Ad\u200Ba', 'Ada\u202Elanimirc', 'Ad\u200Da', '\u2066Ada\u2069', 'Ada\uFEFF', 'Ad\u00ADa', 'Ada\nadmin'] as const;
const HONEST = ['Zoë', '株式会社', '👩\u200D🚀 team', 'می\u200Cخواهم'] as const;

interface Input {
  method: 'POST' | 'PATCH';
  path: string;
  at: string;
  body(name: string): object;
}

/** Every input for a name that people see. */
async function inputs(): Promise<Input[]> {
  const created = async (path: string, body: object): Promise<string> =>
    ((await api.call('POST', `/api/v1${path}`, { as: api.ours.owner, body })).body as { id: string }).id;
  const member = await created('/members', { email: 'names@example.com', name: 'Ada', role: 'viewer' });
  const asset = await created('/assets', { type: 'host', name: 'names.example.com' });
  const finding = await created('/findings', { title: 'Weak', severity: 'high', asset: { type: 'host', name: 'names.example.com' } });
  const item = await created('/work-items', { title: 'Update', finding_ids: [finding] });
  const accepted = { status: 'risk_accepted', reason: 'for now', expires_at: new Date(Date.now() + 9e8).toISOString() };
  const trust = { issuer: 'https://token.actions.githubusercontent.com', conditions: { repository: ['acme/shop'] }, role: 'analyst' };
  return [
    { method: 'POST', path: '/members', at: '/name', body: (name) => ({ email: `${Math.random()}@example.com`, name, role: 'viewer' }) },
    { method: 'PATCH', path: `/members/${member}`, at: '/name', body: (name) => ({ name }) },
    { method: 'PATCH', path: '/organization', at: '/name', body: (name) => ({ name }) },
    { method: 'POST', path: '/api-keys', at: '/name', body: (name) => ({ name, role: 'viewer' }) },
    { method: 'POST', path: '/views', at: '/name', body: (name) => ({ name, list: 'findings', scope: 'mine', query: '' }) },
    { method: 'POST', path: '/pipeline-trusts', at: '/name', body: (name) => ({ ...trust, name }) },
    { method: 'POST', path: '/integrations', at: '/name', body: (name) => ({ provider: 'report_url', name, config: {}, credentials: {} }) },
    { method: 'POST', path: '/assets', at: '/name', body: (name) => ({ type: 'host', name }) },
    { method: 'PATCH', path: `/assets/${asset}`, at: '/name', body: (name) => ({ name }) },
    { method: 'PATCH', path: `/assets/${asset}`, at: '/owner', body: (owner) => ({ owner }) },
    { method: 'POST', path: '/findings', at: '/asset/name', body: (name) => ({ title: 'Weak', severity: 'high', asset: { type: 'host', name } }) },
    { method: 'PATCH', path: `/findings/${finding}`, at: '/owner', body: (owner) => ({ ...accepted, owner }) },
    { method: 'POST', path: '/findings/bulk', at: '/change/owner', body: (owner) => ({ ids: [finding], change: { ...accepted, owner } }) },
    { method: 'PATCH', path: `/work-items/${item}`, at: '/assignee', body: (assignee) => ({ assignee }) },
  ];
}

describe('names with characters that nobody sees', () => {
  it('are refused wherever people type them', async () => {
    for (const { method, path, at, body } of await inputs())
      for (const name of HIDING)
        expect(await api.call(method, `/api/v1${path}`, { as: api.ours.owner, body: body(name) }), `${method} ${path} ${JSON.stringify(name)}`).toMatchObject({
          status: 400,
          body: { code: 'validation_failed', errors: expect.arrayContaining([expect.objectContaining({ path: at, code: 'wrong_format' })]) },
        });
  });

  it('are no names in other scripts', async () => {
    for (const name of HONEST)
      expect(await api.call('PATCH', '/api/v1/organization', { as: api.ours.owner, body: { name } })).toMatchObject({ status: 200, body: { name } });
  });

  it('are cleaned on the command line', async () => {
    const actor = systemActor(api.ours.id, 'command line');
    const organization = await api.db.withSystem((tx) => createOrganization(tx, 'command line', { slug: 'hidden-names', name: 'A\u202Ecme' }));
    const [member, { key }] = await api.db.withTenant(actor, async (tx) => [
      await addMember(tx, actor, { email: 'hidden@example.com', name: '\u200B', role: 'viewer', passwordHash: null }),
      await createApiKey(tx, actor, { name: 'pipe\u200Bline', role: 'viewer' }),
    ]);
    expect([organization.name, member.name, key.name]).toEqual(['Acme', 'hidden@example.com', 'pipeline']);
  });

  it('are cleaned in reports, of everything that evidence refuses in names', () => {
    const given = { title: 'Weak', severity: 'high' as const, place: '', location: {} };
    const kept: string[] = [];
    for (let point = 0; point <= 0x10_ffff; point++) {
      const name = `a${String.fromCodePoint(point)}b`;
      if (!hidesText(name)) continue;
      const { tool, asset } = observation({ ...given, tool: name, asset: { type: 'host', name } });
      if (hidesText(tool) || hidesText(asset?.name ?? '')) kept.push(point.toString(16));
    }
    expect(kept).toEqual([]);
  });
});
