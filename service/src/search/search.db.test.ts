import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openFileStore } from '../blobs/file-store.ts';
import { newId } from '../shared/ids.ts';
import { addFullOrganization, addKey } from '../testing/full-organization.ts';
import { startApi, type TestApi } from '../testing/http/api.ts';
import { namesOfObjects } from './object-names.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  for (const { owner } of [api.ours, api.theirs]) {
    const create = (path: string, body: object) => api.call('POST', `/api/v1${path}`, { as: owner, body });
    const finding = await create('/findings', { title: 'Overflow in openssl', severity: 'high', asset: { type: 'host', name: 'openssl-gateway.example' } });
    await create('/work-items', { title: 'Update openssl', finding_ids: [(finding.body as { id: string }).id] });
    await create('/integrations', { provider: 'report_url', name: 'Reports of openssl', config: { url: 'https://example.com/report.json' }, enabled: false });
  }
});
afterAll(() => api?.close());

type Result = Record<string, { id: string; title: string; hint: string }[]>;
const search = async (query: string, as = api.ours.owner) => (await api.call('GET', `/api/v1/search?${query}`, { as })).body as Result;

it('finds things of every kind in one request, ignoring case, of the own organization only', async () => {
  const found = await search('q=OpenSSL');
  expect(Object.fromEntries(Object.entries(found).map(([kind, hits]) => [kind, hits.map(({ title, hint }) => [title, hint])]))).toEqual({
    findings: [['Overflow in openssl', 'openssl-gateway.example']],
    assets: [['openssl-gateway.example', 'host']],
    work_items: [['Update openssl', 'open']],
    packages: [],
    connections: [['Reports of openssl', 'report_url']],
  });
  const theirs = await search('q=openssl', api.theirs.owner);
  expect(
    Object.values(theirs)
      .flat()
      .map(({ id }) => id),
  ).not.toEqual(expect.arrayContaining([found.findings?.[0]?.id]));
});

it('takes any text: single letters, wildcards, quotes', async () => {
  for (const text of ['o', '%', "'", '\\', '"a b', '_']) expect(Object.keys(await search(`q=${encodeURIComponent(text)}`)), text).toHaveLength(5);
});

interface Entry {
  action: string;
  object: { type: string; id: string; name: string | null };
}

it('names the objects of the audit trail as they are called now', async () => {
  const body = { title: 'Updated openssl' };
  const [item] = (await search('q=update')).work_items ?? [];
  await api.call('PATCH', `/api/v1/work-items/${item?.id}`, { as: api.ours.owner, body });
  const { data } = (await api.call('GET', '/api/v1/audit-events?sort=occurred_at', { as: api.ours.owner })).body as { data: Entry[] };
  const named = data.filter(({ object }) => ['finding', 'work_item', 'connection'].includes(object.type)).map(({ action, object }) => [action, object.name]);
  expect(named).toEqual([
    ['finding.created', 'Overflow in openssl'],
    ['work_item.created', 'Updated openssl'],
    ['work_item.findings_linked', 'Updated openssl'],
    ['connection.created', 'Reports of openssl'],
    ['work_item.updated', 'Updated openssl'],
  ]);
});

/** The table of each kind of object that has a name. */
const tables: Record<string, string> = {
  api_key: 'api_keys',
  artifact: 'artifacts',
  asset: 'assets',
  connection: 'connections',
  evidence_package: 'evidence_packages',
  finding: 'findings',
  import: 'imports',
  member: 'members',
  sync_run: 'sync_runs',
  webhook: 'webhooks',
  work_item: 'work_items',
};

it('names objects of every kind, and nothing that is gone or belongs to others', async () => {
  const orgId = newId();
  const folder = mkdtempSync(join(tmpdir(), 'rrs-names-'));
  await addFullOrganization({ db: api.db, blobs: openFileStore(folder) }, orgId, 'full').finally(() => rmSync(folder, { recursive: true }));
  await addKey(api.db, orgId);
  const names = await api.db.withTenant({ orgId }, async (tx) => {
    const objects = [];
    for (const [type, table] of Object.entries(tables)) {
      const { rows } = await sql<{ id: string }>`select id from ${sql.table(table)} order by id limit 1`.execute(tx);
      objects.push({ type, id: rows[0]?.id ?? '' });
    }
    expect(await namesOfObjects(tx, api.ours.id, objects)).toEqual(new Map());
    return namesOfObjects(tx, orgId, [...objects, { type: 'session', id: newId() }, { type: 'finding', id: newId() }, { type: 'asset', id: 'none' }]);
  });
  expect([...names.keys()].map((key) => key.split(' ')[0]).sort()).toEqual(Object.keys(tables).sort());
  expect([...names.values()].filter((name) => name.length === 0)).toEqual([]);
});
