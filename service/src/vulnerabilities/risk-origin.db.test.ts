import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApi, type TestApi } from '../testing/http/api.ts';
import { learn } from './learn.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

interface Factor {
  name: string;
  source: string | null;
  date: string | null;
}

async function factorsOf(body: object): Promise<Record<string, Factor>> {
  const asset = { type: 'host', name: 'web1.example.com' };
  const created = await api.call('POST', '/api/v1/findings', { as: api.ours.owner, body: { title: 'A weakness', severity: 'high', asset, ...body } });
  expect(created.status).toBe(201);
  const { id } = created.body as { id: string };
  const { body: finding } = await api.call('GET', `/api/v1/findings/${id}`, { as: api.ours.owner });
  const { risk } = finding as { risk: { model: string; factors: Factor[] } };
  expect(risk.model).toBe('rrs-2');
  return Object.fromEntries(risk.factors.map((factor) => [factor.name, factor]));
}

const vector = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';

it('says which catalog, score date and rating a risk score was computed from', async () => {
  await api.db.withSystem((tx) =>
    learn(tx, [
      {
        id: 'CVE-2026-0001',
        cvss: [{ vector }],
        epss: { score: 0.5, percentile: 0.9, date: '2026-11-14' },
        kev: { listed: true, dueDate: '2026-12-01', version: '2026.11.13' },
      },
    ]),
  );
  expect(await factorsOf({ cves: ['CVE-2026-0001'] })).toMatchObject({
    severity: { input: 'high, CVSS 9.8', source: 'report, CVSS 3.1 from enrichment' },
    exploitation_likelihood: { source: 'EPSS', date: '2026-11-14' },
    known_exploited: { source: 'CISA KEV', date: '2026.11.13', points: 75 },
    asset_exposure: { source: 'asset', date: null },
  });
});

it('says that a rating comes from the report if enrichment has none', async () => {
  expect(await factorsOf({ cves: ['CVE-2026-0002'], cvss: { vector } })).toMatchObject({
    severity: { source: 'report, CVSS 3.1 from report' },
    exploitation_likelihood: { source: null, date: null },
    known_exploited: { source: null, date: null, points: 0 },
  });
});

it('counts what CISA calls actively exploited in its SSVC decision, and names it as the source', async () => {
  const ssvc = { automatable: true, technical_impact: 'total', date: '2026-11-10' } as const;
  await api.db.withSystem((tx) =>
    learn(tx, [
      { id: 'CVE-2026-0003', ssvc: { ...ssvc, exploitation: 'active' } },
      { id: 'CVE-2026-0004', ssvc: { ...ssvc, exploitation: 'poc' } },
    ]),
  );
  expect(await factorsOf({ cves: ['CVE-2026-0003'] })).toMatchObject({ known_exploited: { source: 'CISA SSVC', date: '2026-11-10', points: 75 } });
  expect(await factorsOf({ cves: ['CVE-2026-0004'] })).toMatchObject({ known_exploited: { source: null, points: 0 } });
});
