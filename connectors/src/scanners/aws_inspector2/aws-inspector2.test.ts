import { afterEach, beforeEach, expect, it } from 'vitest';
import { type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { collect, contextOf } from '../../testing/host.ts';
import { awsInspector2Fake, ROLE } from './fake.ts';
import { awsInspector2 } from './index.ts';

let fake: RunningFake;
beforeEach(async () => {
  fake = await serveFake(awsInspector2Fake, { pageSize: 10 });
});
afterEach(() => fake.close());

const context = () => contextOf(awsInspector2, awsInspector2Fake.settings(fake.origin));
const bodies = () => fake.requests.filter(({ url }) => url.pathname.endsWith('/findings/list')).map(({ body }) => JSON.parse(body));

it('covers the scanned resources of every region under the names in the findings', async () => {
  const run = await collect(awsInspector2, context());
  const named = new Set(run.items.map((item) => ('observation' in item ? `${item.observation.asset?.type} ${item.observation.asset?.name}` : '')));
  expect(run.covers).toHaveLength(8);
  expect([...named].filter((name) => !run.covers.includes(name))).toEqual([]);
  expect(run.covers.filter((name) => !named.has(name))).toEqual(['host i-0b000000000000020', 'host i-0b000000000000021']);
});

it('requests changes with the same window on all pages and covers nothing', async () => {
  const run = await collect(awsInspector2, { ...context(), cursor: '2026-11-14T08:00:00.000Z' });
  expect(run).toMatchObject({ coverage: 'changes', cursor: '2026-11-15T08:00:00.000Z', covers: [] });
  const windows = new Set(bodies().map(({ filterCriteria }) => JSON.stringify(filterCriteria)));
  expect([...windows]).toEqual([JSON.stringify({ updatedAt: [{ startInclusive: Date.parse('2026-11-14T07:00:00Z') / 1000, endInclusive: 1_956_528_000 }] })]);
  const states = run.items.map((item) => ('observation' in item ? [item.observation.rule, item.observation.present] : item));
  const inEach = [
    ['CVE-2025-1010', false],
    ['CVE-2025-1011', true],
    ['CVE-2025-1012', true],
    ['CVE-2025-1013', true],
  ];
  expect(states).toEqual([...inEach, ...inEach]);
});

it('reads everything when closed findings may have been deleted since', async () => {
  expect(await collect(awsInspector2, { ...context(), cursor: '2026-11-08T08:00:00.000Z' })).toMatchObject({ coverage: 'complete' });
  expect(bodies().every(({ filterCriteria }) => filterCriteria === undefined)).toBe(true);
});

it('refuses one URL for several regions', async () => {
  const settings = awsInspector2Fake.settings(fake.origin);
  const one = { ...settings, config: { ...settings.config, api_url: `${fake.origin}/eu-west-1` } };
  await expect(awsInspector2.check(contextOf(awsInspector2, one))).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringContaining('{region}'),
  });
});

it('retries throttling that AWS reports with the status 400, and names a wrong clock', async () => {
  const answers = (type: string, message: string, times: number) => {
    let left = times;
    return serveFake(
      {
        ...awsInspector2Fake,
        answer: (options) => {
          const handle = awsInspector2Fake.answer(options);
          return (request) => (left-- > 0 ? { status: 400, headers: { 'x-amzn-errortype': type }, body: { message } } : handle(request));
        },
      },
      { pageSize: 10 },
    );
  };
  await fake.close();
  fake = await answers('ThrottlingException', 'Rate exceeded', 2);
  expect((await collect(awsInspector2, context())).coverage).toBe('complete');
  await fake.close();
  fake = await answers('InvalidSignatureException', 'Signature expired: 20261115T080000Z is now earlier than 20261115T090000Z', 100);
  await expect(collect(awsInspector2, context())).rejects.toMatchObject({ kind: 'configuration', message: expect.stringContaining('clock of this machine') });
});

const assuming = (role: { role_arn: string; external_id?: string }) => {
  const { config, credentials } = awsInspector2Fake.settings(fake.origin);
  return contextOf(awsInspector2, { config: { ...config, sts_url: `${fake.origin}/sts` }, credentials: { ...credentials, ...role } });
};

it('reads with the keys of a role, which it requests once', async () => {
  const run = await collect(awsInspector2, assuming(ROLE));
  expect(run).toMatchObject({ coverage: 'complete' });
  expect(run.items.length).toBe((await collect(awsInspector2, context())).items.length);
  const of = ({ headers }: { headers: Readonly<Record<string, string>> }) => /Credential=([^/]+)/.exec(headers.authorization ?? '')?.[1];
  expect(fake.requests.filter(({ url }) => url.pathname === '/sts/').map(of)).toEqual(['AKIDINSPECTOR0000001']);
  expect(new Set(fake.requests.filter(({ headers }) => headers['x-amz-security-token'] !== undefined).map(of))).toEqual(new Set(['ASIAINSPECTOR0000002']));
});

it('quotes AWS if the role cannot be assumed', async () => {
  await expect(awsInspector2.check(assuming({ role_arn: ROLE.role_arn, external_id: 'another' }))).rejects.toMatchObject({
    kind: 'credentials',
    message: expect.stringMatching(/sts:AssumeRole.*not authorized to perform: sts:AssumeRole on resource/),
  });
  expect(fake.requests).toHaveLength(1);
});

it('refuses an external ID without a role', () => {
  const { config, credentials } = awsInspector2Fake.settings(fake.origin);
  expect(awsInspector2.problems?.({ config, credentials: { ...credentials, external_id: 'rrs-1' } })).toEqual([
    { path: '/credentials/role_arn', detail: 'is required if there is an external ID' },
  ]);
});
