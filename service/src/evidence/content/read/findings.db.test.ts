import type { FindingFacts } from '@rrs/evidence-format';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { evidenceFindings } from '../../../findings/facts/finding-facts.ts';
import { rescoreKnown } from '../../../findings/scoring/rescore.ts';
import { usePackages } from '../../../testing/evidence/packages.ts';
import { addPersonWithKey, behindProxy } from '../../../testing/people.ts';
import { buildFindingFacts } from './findings.ts';
import { personNamer } from './persons.ts';

const world = usePackages({ config: behindProxy });
let ada: { id: string; key: string };
let grace: { id: string; key: string };
beforeAll(async () => {
  ada = await addPersonWithKey(world.api(), world.api().ours, 'analyst');
  grace = await addPersonWithKey(world.api(), world.api().ours, 'admin');
});

interface Report {
  image: string;
  components: Record<string, string>;
  more?: object;
  scope?: object;
}
/** Imports a complete scan that reports components with a severity. */
const scan = async ({ image, components, more = {}, scope = {} }: Report) => {
  const scanScope = { coverage: 'complete', asset: { type: 'container_image', name: image }, track: 'prod', ...scope };
  const query = new URLSearchParams({ format: 'generic', scan_scope: JSON.stringify(scanScope) });
  const lines = Object.entries(components).map(([component, severity]) => ({
    title: `Weakness of ${component}`,
    severity,
    cves: ['CVE-2026-0001'],
    component,
    version: '1.0',
    ...more,
  }));
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('') || '[]';
  return world.post<{ id: string; status: string }>(`/imports?${query}`, body, grace.key, { 'content-type': 'application/octet-stream', prefer: 'wait=30' });
};
const found = async (asset: string): Promise<string[]> =>
  (await world.get<{ data: { id: string }[] }>(`/findings?asset=${encodeURIComponent(asset)}&sort=created_at`)).data.map(({ id }) => id);
const facts = async (...ids: string[]): Promise<FindingFacts[]> => {
  const orgId = world.api().ours.id;
  const ownerlessKeys = new Set<string>();
  const context = { toPerson: personNamer(ownerlessKeys), ownerlessKeys, workItems: new Map() };
  const { rows } = await world.api().db.withTenant({ orgId }, (tx) => evidenceFindings(orgId, sql`select unnest(${ids}::uuid[])`).execute(tx));
  return ids.map((id) => buildFindingFacts(rows.find((row) => row.id === id) as (typeof rows)[number], context));
};
const change = async (id: string, body: object, as = ada.key): Promise<void> => {
  const answer = await world.api().call('PATCH', `/api/v1/findings/${id}`, { as, body });
  expect(answer).toMatchObject({ status: 200 });
};

describe('severity', () => {
  it('is the highest that a source ever stated, also after the source and a person lowered it', async () => {
    await scan({ image: 'lowered', components: { ssl: 'critical' } });
    await scan({ image: 'lowered', components: { ssl: 'medium' } });
    const [id = ''] = await found('lowered');
    await change(id, { severity: 'info', reason: 'behind a firewall' });
    expect(await facts(id)).toMatchObject([
      {
        severity: 'info',
        severity_source: 'critical',
        override: { severity: 'info', reason: 'behind a firewall', by: { kind: 'api_key', person: ada.id }, at: expect.any(String) },
      },
    ]);
    await change(id, { severity: null });
    expect(await facts(id)).toMatchObject([{ severity: 'medium', severity_source: 'critical', override: null }]);
  });
});

describe('the day on which a fix was published', () => {
  it('is the earliest that a source states, or null', async () => {
    const more = { fixed_version: '1.1', fix_published_date: '2026-02-03' };
    await scan({ image: 'patched', components: { ssl: 'high' }, more });
    await scan({ image: 'unpatched', components: { ssl: 'high' } });
    expect(await facts(...(await found('patched')), ...(await found('unpatched')))).toMatchObject([more, { fixed_version: null, fix_published_date: null }]);
  });
});

describe('cause', () => {
  it('is a scan if one no longer shows the finding, and nobody decided it', async () => {
    await scan({ image: 'fixed', components: { ssl: 'high' } });
    const [id = ''] = await found('fixed');
    await change(id, { status: 'remediated', reason: 'updated' });
    const after = await scan({ image: 'fixed', components: { zlib: 'high' } });
    expect(await facts(id)).toMatchObject([
      {
        state: 'verified',
        cause: 'scan',
        decided_by: null,
        claimed_by: { person: ada.id },
        claimed_at: expect.any(String),
        assurance: 'scan_after_claim',
        after: { state: 'absent', scan: after.id, others: [], doubts: expect.arrayContaining(['time_unstated']) },
        contradicted_by: null,
      },
    ]);
  });

  it('names who retired the asset, who withdrew and who verified', async () => {
    await scan({ image: 'retired', components: { ssl: 'critical' } });
    await scan({ image: 'judged', components: { ssl: 'high', zlib: 'high' } });
    const [retired = ''] = await found('retired');
    const [withdrawn = '', verified = ''] = await found('judged');
    await change(withdrawn, { status: 'withdrawn', reason: 'does not apply' });
    await change(verified, { status: 'remediated', reason: 'updated' });
    await change(verified, { status: 'verified', reason: 'tested by hand' }, grace.key);
    const { data } = await world.get<{ data: { id: string }[] }>('/assets?name=retired');
    await world.api().call('PATCH', `/api/v1/assets/${data[0]?.id}`, { as: ada.key, body: { retired: true } });
    expect(await facts(retired, withdrawn, verified)).toMatchObject([
      { state: 'withdrawn', cause: 'asset_retired', decided_by: { person: ada.id }, after: { state: 'unknown' } },
      { state: 'withdrawn', cause: 'person', decided_by: { person: ada.id } },
      { state: 'verified', cause: 'second_person', decided_by: { person: grace.id }, claimed_by: { person: ada.id }, after: { state: 'unknown', scan: null } },
    ]);
  });

  it('of a risk that was accepted under four eyes names who asked and who approved', async () => {
    await scan({ image: 'accepted', components: { ssl: 'high' } });
    const [id = ''] = await found('accepted');
    const owner = { as: world.api().ours.owner };
    await world.api().call('PATCH', '/api/v1/organization', { ...owner, body: { policy: { four_eyes: true } } });
    const compensating_control = 'the port is closed';
    const expires_at = new Date(Date.now() + 86_400_000).toISOString();
    await change(id, { status: 'risk_accepted', reason: 'cannot be updated', owner: 'CISO', compensating_control, expires_at });
    expect(await world.api().call('POST', `/api/v1/findings/${id}/acceptance/approve`, { as: grace.key, body: {} })).toMatchObject({ status: 200 });
    await world.api().call('PATCH', '/api/v1/organization', { ...owner, body: { policy: { four_eyes: false } } });
    expect(await facts(id)).toMatchObject([
      {
        state: 'risk_accepted',
        cause: 'person',
        acceptance: { owner: 'CISO', compensating_control, requested_by: { person: ada.id }, approved_by: { person: grace.id } },
        decided_by: { person: grace.id },
      },
    ]);
  });
});

it('keeps since when a vulnerability is known to be exploited', async () => {
  const more = { cves: ['CVE-2026-7777'] };
  await scan({ image: 'exploited', components: { ssl: 'high' }, more });
  const [id = ''] = await found('exploited');
  expect(await facts(id)).toMatchObject([{ kev: false, kev_since: null }]);
  const { db, ours, follower } = world.api();
  await db.withSystem((tx) => tx.insertInto('vulnerabilities').values({ id: 'CVE-2026-7777', kev: true, kev_version: '2026.11.16' }).execute());
  await rescoreKnown(db, ours.id, follower);
  const [listed] = await facts(id);
  expect(listed).toMatchObject({ kev: true, kev_since: expect.any(String) });
  await scan({ image: 'exploited', components: { ssl: 'critical' }, more });
  expect(await facts(id)).toMatchObject([{ severity: 'critical', kev_since: listed?.kev_since }]);
});

it('does not call a finding absent that a file only declares as fixed', async () => {
  await scan({ image: 'declared', components: { ssl: 'high' } });
  await scan({ image: 'declared', components: { ssl: 'high' }, more: { status: 'fixed' }, scope: { coverage: 'partial' } });
  const [id = ''] = await found('declared');
  expect(await facts(id)).toMatchObject([
    { state: 'remediated', assurance: 'declared', after: { state: 'unknown', scan: null }, claimed_by: { person: grace.id } },
  ]);
});

it('shows findings that a person merged with the state they had, and takes the earliest time of both', async () => {
  await scan({ image: 'merged', components: { ssl: 'high' }, more: { first_seen: '2026-01-05T00:00:00Z' } });
  await scan({ image: 'merged', components: { ssl: 'high', openssl: 'critical' }, more: { first_seen: '2026-02-05T00:00:00Z' } });
  const [older = '', newer = ''] = await found('merged');
  await world.post(`/findings/${newer}/merge`, { into: older, reason: 'the same library' }, ada.key);
  const [merged] = await facts(older);
  expect(merged).toMatchObject({
    merged: [{ id: newer, state: 'open' }],
    severity_source: 'critical',
    first_seen: '2026-01-05T00:00:00.000Z',
    clock_started_at: '2026-01-05T00:00:00.000Z',
  });
});

it('knows that another build than the clean one is in use', async () => {
  const at = (day: number): string => `2026-11-0${day}T00:00:00Z`;
  const version = (name: string, day: number, tool = 'a') => ({ scope: { version: name, name: tool, started_at: at(day) } });
  await scan({ image: 'deployed', components: { ssl: 'high' }, ...version('1.4.2', 1) });
  await scan({ image: 'deployed', components: {}, more: {}, ...version('99.0.0', 2) });
  const [id = ''] = await found('deployed');
  expect(await facts(id)).toMatchObject([{ state: 'verified', version_rescanned: true }]);
  await scan({ image: 'deployed', components: { other: 'low' }, ...version('1.4.2', 3, 'b') });
  expect(await facts(id)).toMatchObject([{ state: 'verified', version_rescanned: false }]);
});
