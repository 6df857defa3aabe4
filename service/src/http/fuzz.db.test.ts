import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../shared/ids.ts';
import { addLogEntry, sendArtifact } from '../testing/evidence/evidence.ts';
import { sharePackage, storePackage } from '../testing/evidence/stored-package.ts';
import { startApi, type TestApi } from '../testing/http/api.ts';
import { requestsTo } from '../testing/http/arbitrary.ts';
import { differenceOf, operations } from '../testing/http/description.ts';

const RUNS = 15;

let api: TestApi;
const ids: string[] = [];
let shared: string;
const statuses = new Set<number>();

beforeAll(async () => {
  api = await startApi({ config: { RRS_TRUSTED_PROXIES: '127.0.0.1', RRS_OUTBOUND_ALLOW: '127.0.0.1' } });
  const create = async (path: string, body: object | undefined) => {
    const answer = await api.call('POST', path, { as: api.ours.owner, ...(body ? { body } : {}) });
    ids.push((answer.body as { id: string }).id);
  };
  for (const role of ['viewer', 'admin', 'owner']) {
    await create('/api/v1/members', { email: `${role}@example.com`, name: role, role });
    await create('/api/v1/api-keys', { name: role, role });
  }
  const webhook = { url: 'http://127.0.0.1:1/', event_types: ['*'] };
  for (let count = 0; count < 3; count++) await create('/api/v1/webhooks', webhook);
  await create(`/api/v1/webhooks/${ids.at(-1)}/test`, undefined);
  for (const severity of ['low', 'critical']) {
    const body = { title: severity, severity, asset: { type: 'host', name: `${severity}.example` } };
    const { id, asset } = (await api.call('POST', '/api/v1/findings', { as: api.ours.owner, body })).body as { id: string; asset: { id: string } };
    ids.push(id, asset.id);
    await create('/api/v1/work-items', { title: severity, finding_ids: [id] });
  }
  const { id: item } = (await api.call('POST', '/api/v1/work-items', { as: api.ours.owner, body: { title: 'with files' } })).body as { id: string };
  const parts = { type: 'other', title: 'file', file: { name: 'file.txt', content: 'some bytes of a file' } };
  const { body: file } = await sendArtifact(api.url, item, parts, { authorization: `Bearer ${api.ours.owner}` });
  ids.push(item, (file as { id: string }).id);
  await create(`/api/v1/riskops-evidence/work-items/${item}/artifacts`, { type: 'other', title: 'link', url: 'https://example.com' });
  for (let index = 0; index < 5; index++) await addLogEntry(api.db, api.ours.id);
  const sealed = await storePackage(api, { orgId: api.ours.id, workItemId: item });
  const link = await sharePackage(api, api.ours.id, sealed);
  ids.push(sealed, link.id);
  shared = link.token;
  ids.push(newId(), api.ours.id, api.theirs.id);
});
afterAll(() => api?.close());

describe('random requests', () => {
  it.each(operations.map((operation) => [operation.operationId, operation] as const))('%s responds as described', async (_, operation) => {
    await fc.assert(
      fc.asyncProperty(requestsTo(operation, ids), fc.ipV4(), fc.boolean(), async ({ url, headers, payload }, address, invited) => {
        const response = await api.app.inject({
          method: operation.method as 'GET',
          url: invited ? url.replace(/(?<=\/shared\/)[^/?]*/, shared) : url,
          headers: {
            // No worker is running, so waiting for a result would only delay the response.
            prefer: 'wait=0',
            ...headers,
            authorization: `Bearer ${api.ours.owner}`,
            'x-forwarded-for': address,
            ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(payload === undefined ? {} : { payload }),
        });
        statuses.add(response.statusCode);
        const header = (name: string) => (response.headers[name.toLowerCase()] === undefined ? null : String(response.headers[name.toLowerCase()]));
        expect(differenceOf(operation, { status: response.statusCode, header, text: response.payload })).toBeNull();
      }),
      { numRuns: RUNS },
    );
  });

  it('reach successes as well as refusals', () => {
    // Which ones of a kind are reached is up to chance.
    const reached = (...kind: readonly number[]): boolean => kind.some((status) => statuses.has(status));
    expect([reached(200), reached(201, 202, 204), reached(400), reached(404), reached(409, 412, 422)], [...statuses].join()).not.toContain(false);
  });

  it('leave the caller and the other organization unchanged', async () => {
    expect((await api.call('GET', '/api/v1/me', { as: api.ours.owner })).body).toMatchObject({ role: 'owner', organization: { id: api.ours.id } });
    expect((await api.call('GET', '/api/v1/organization', { as: api.theirs.owner })).body).toMatchObject({ name: 'theirs', version: 1 });
    expect((await api.call('GET', '/api/v1/members', { as: api.theirs.owner })).body).toMatchObject({ data: [] });
  });
});
