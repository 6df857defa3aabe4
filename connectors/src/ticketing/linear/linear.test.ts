import { afterEach, expect, it } from 'vitest';
import { hmac } from '../../core/webhook-signatures.ts';
import { type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { contextOf } from '../../testing/host.ts';
import { linearFake } from './fake.ts';
import { dataOf, uuidOf } from './graphql.ts';
import { linear } from './index.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

async function started() {
  const fake = await serveFake(linearFake, { pageSize: 10 });
  running.push(fake);
  return { fake, context: contextOf(linear, linearFake.settings(fake.origin)) };
}

const draft = { key: 'k', title: 'T', body: ['B'], priority: 'low', dueDate: null, url: 'https://rrs.example/1' } as const;

it('creates an issue only once, even when create is repeated', async () => {
  const { context } = await started();
  const first = await linear.create(context, draft);
  await expect(linear.create(context, { ...draft, title: 'Another' })).resolves.toEqual(first);
});

it('creates the label if it does not exist', async () => {
  const { fake, context } = await started();
  const labelled = { ...context, config: { ...context.config, label: 'secops' } };
  const { raw } = await linear.create(labelled, draft);
  expect(raw).toMatchObject({ labels: { nodes: [{ name: 'secops' }] } });
  await linear.create(labelled, { ...draft, key: 'k2' });
  expect(fake.requests.filter(({ body }) => body.includes('issueLabelCreate'))).toHaveLength(1);
});

it('derives UUIDs of version 4', () => {
  expect(uuidOf('a')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(uuidOf('a')).toBe(uuidOf('a'));
  expect(uuidOf('a')).not.toBe(uuidOf('b'));
});

it('maps errors by their code', () => {
  const failure = (code: string) => () => dataOf({ data: null, errors: [{ message: 'No', extensions: { code } }] });
  expect(failure('AUTHENTICATION_ERROR')).toThrow(expect.objectContaining({ kind: 'credentials' }));
  expect(failure('FORBIDDEN')).toThrow(expect.objectContaining({ kind: 'credentials' }));
  expect(failure('RATELIMITED')).toThrow(expect.objectContaining({ kind: 'rate_limited' }));
  expect(failure('INTERNAL_SERVER_ERROR')).toThrow(expect.objectContaining({ kind: 'unavailable' }));
  expect(failure('INPUT_ERROR')).toThrow(expect.objectContaining({ kind: 'configuration', message: 'Linear refused the request: No' }));
  expect(linear.rateLimited?.(400, { 'x-ratelimit-requests-remaining': '0', 'x-ratelimit-requests-reset': String(Date.now() + 60_000) })).toBeGreaterThan(50);
  expect(linear.rateLimited?.(400, { 'x-ratelimit-requests-remaining': '5' })).toBeNull();
  expect(linear.rateLimited?.(200, { 'x-ratelimit-requests-remaining': '0' })).toBeNull();
});

it('accepts comment events and ignores old messages', () => {
  const settings = linearFake.settings('http://x');
  const sent = (event: object) => {
    const body = Buffer.from(JSON.stringify(event));
    return linear.inbound?.(settings, { headers: { 'linear-signature': hmac('lin_wh_0123456789abcdef', body, 'hex') }, body });
  };
  expect(sent({ type: 'Comment', data: { id: 'c', issueId: 'i' }, webhookTimestamp: Date.now() })).toEqual({ ticket: 'i' });
  expect(sent({ type: 'Project', data: { id: 'p' }, webhookTimestamp: Date.now() })).toEqual({ ticket: null });
  expect(sent({ type: 'Issue', data: { id: 'i' }, webhookTimestamp: Date.now() - 86_400_000 })).toBeNull();
  expect(sent({ type: 'Issue', data: { id: 'i' } })).toBeNull();
});

it('does not capture issues of another workspace', async () => {
  const { context } = await started();
  await expect(linear.capture?.(context, 'https://linear.app/acme/issue/SEC-1')).resolves.toMatchObject({ description: expect.stringContaining('SEC-1') });
  await expect(linear.capture?.(context, 'https://linear.app/other/issue/SEC-1/weakness')).resolves.toBeNull();
  await expect(linear.capture?.(context, 'https://linear.app/acme/issue/SEC-999/x')).rejects.toMatchObject({ kind: 'configuration' });
});
