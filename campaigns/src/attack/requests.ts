import fc from 'fast-check';
import { sharePackage, storePackage } from '../../../service/src/testing/evidence/stored-package.ts';
import type { TestOrganization } from '../../../service/src/testing/http/api.ts';
import { requestsTo } from '../../../service/src/testing/http/arbitrary.ts';
import { differenceOf, type Operation, operations } from '../../../service/src/testing/http/description.ts';
import { type Outcome, quantile } from '../figures.ts';
import { watched } from './slow.ts';
import { inParallel, type Size, type Target, within } from './target.ts';

const PARALLEL = 6;
/** Requests to one operation in a row, so that all operations are called from the start. Fewer if there are not enough for all. */
const BATCH = 20;

/** Requests from the API description: valid ones, nearly valid ones and hostile ones. */
export async function randomRequests(target: Target, { count, skip, seed, minutes }: Size & { skip: number }): Promise<Outcome> {
  const { api } = target;
  const { ours, theirs } = api;
  const ids = [...(await idsOf(target, ours)), ...(await idsOf(target, theirs)), ours.id, theirs.id];
  const item = await create(target, ours, '/work-items', { title: 'shared' });
  const { token } = await sharePackage(api, ours.id, await storePackage(api, { orgId: ours.id, workItemId: item }));
  const violations: string[] = [];
  const statuses = new Map<number, number>();
  const times: number[] = [];
  let slowest = { ms: 0, text: 'none' };
  // A session can be ended and a password changed by a request, but not the key of the caller, which its owner alone knows.
  const batch = Math.max(1, Math.min(BATCH, Math.floor(count / operations.length)));
  const all = Array.from({ length: Math.ceil(count / batch) }, (_, n) => ({ operation: operations[n % operations.length] as Operation, seed: seed + n }));
  const batches = all.slice(Math.floor(skip / batch));
  await inParallel(within(minutes, batches), PARALLEL, async ({ operation, seed }) => {
    const samples = fc.sample(fc.tuple(requestsTo(operation, ids), fc.ipV4(), fc.boolean()), { numRuns: batch, seed });
    for (const [{ url, headers, payload }, address, isInvited] of samples) {
      const path = isInvited ? url.replace(/(?<=\/shared\/)[^/?]*/, token) : url;
      const sent = fetch(`${api.url}${path}`, {
        method: operation.method,
        redirect: 'manual',
        headers: {
          ...headers,
          prefer: 'wait=0',
          authorization: `Bearer ${ours.owner}`,
          'x-forwarded-for': address,
          ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(payload === undefined ? {} : { body: payload }),
      }).catch((error: unknown) => String(error));
      const { response, ms, meanwhile } = await watched(target.databaseUrl, sent);
      if (typeof response === 'string') {
        violations.push(`${operation.operationId}: no response (${response}) to ${path.slice(0, 300)}`);
        continue;
      }
      const text = await response.text();
      times.push(ms);
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      const received = { status: response.status, header: (name: string) => response.headers.get(name), text };
      const difference = differenceOf(operation, received);
      if (difference !== null)
        violations.push(`${operation.operationId}: ${difference.slice(0, 300)} (${operation.method} ${path.slice(0, 300)} ${payload?.slice(0, 300) ?? ''})`);
      if (text.includes('of theirs')) violations.push(`${operation.operationId}: the response contains data of the other organization`);
      const slow = `${operation.operationId}: ${response.status} after ${(ms / 1000).toFixed(1)} s (request ${times.length})${meanwhile}`;
      if (ms > slowest.ms) slowest = { ms, text: slow };
      if (ms > target.slowMs()) violations.push(slow);
    }
  });
  const me = await api.call('GET', '/api/v1/me', { as: ours.owner });
  if (me.status !== 200) violations.push(`the key of the caller no longer works: ${me.status}`);
  const health = target.healthOf('requests');
  return {
    figures: [
      ['requests: sent', `${times.length} of ${batches.length * batch} to ${operations.length} operations`],
      [
        'requests: responses',
        [...statuses]
          .toSorted()
          .map(([status, n]) => `${status}: ${n}`)
          .join(', '),
      ],
      ['requests: time', `p50 ${quantile(times, 0.5).toFixed(0)}, p99 ${quantile(times, 0.99).toFixed(0)}, max ${quantile(times, 1).toFixed(0)} ms`],
      ['requests: slowest', slowest.text],
      ['requests: other callers', health.figure],
    ],
    violations: [...violations, ...health.violations],
  };
}

async function create({ api }: Target, { owner, slug }: TestOrganization, path: string, body: object): Promise<string> {
  const { status, body: made } = await api.call('POST', `/api/v1${path}`, { as: owner, body });
  if (status !== 201) throw new Error(`${path} of ${slug}: ${status} ${JSON.stringify(made)}`);
  return (made as { id: string }).id;
}

/** Resources of an organization, for requests that refer to something that exists. */
async function idsOf(target: Target, organization: TestOrganization): Promise<string[]> {
  const { slug } = organization;
  const asset = { type: 'host', name: `host of ${slug}` };
  const findings = [];
  for (const severity of ['low', 'critical']) findings.push(await create(target, organization, '/findings', { title: `Weakness of ${slug}`, severity, asset }));
  return [
    ...findings,
    await create(target, organization, '/work-items', { title: `Work of ${slug}`, finding_ids: findings.slice(0, 1) }),
    await create(target, organization, '/members', { email: `${slug}@example.com`, name: `Member of ${slug}`, role: 'viewer' }),
    await create(target, organization, '/api-keys', { name: `key of ${slug}`, role: 'viewer' }),
    await create(target, organization, '/webhooks', { url: 'http://127.0.0.1:1/', event_types: ['*'], description: `webhook of ${slug}` }),
  ];
}
