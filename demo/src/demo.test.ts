import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, createClient } from '@rrs/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { people } from './company/names.ts';

/** A short form of the demo: two weeks of a sixth of the company. */
const WEEKS = 2;
const temporary = mkdtempSync(join(tmpdir(), 'rrs-demo-test-'));
const start = () =>
  spawn(process.execPath, [fileURLToPath(new URL('./main.ts', import.meta.url)), '--port', '0', '--weeks', String(WEEKS), '--share', '0.15'], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
const demo = start();
let printed = '';
let url = '';
let owner: Client;

beforeAll(async () => {
  for await (const chunk of demo.stdout.iterator({ destroyOnReturn: false })) {
    printed += chunk;
    if (/Ctrl-C/.test(printed)) break;
  }
  url = /ready .*(http:\/\/\S+)/.exec(printed)?.[1] ?? '';
  owner = await signIn('owner');
}, 300_000);

afterAll(async () => {
  if (demo.exitCode === null) demo.kill('SIGKILL');
  rmSync(temporary, { recursive: true, force: true });
});

/** With the e-mail address and the password that were printed. */
async function signIn(role: string): Promise<Client> {
  const [, email = '', password = ''] = new RegExp(`^ +${role} +(\\S+) +(\\S+)`, 'm').exec(printed) ?? [];
  const { response } = await createClient({ url }).callWithResponse('createSession', { body: { email, password } });
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return createClient({ url, fetch: (input, init) => fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), cookie } }) });
}

test('prints how to sign in as an owner, an analyst and an auditor', async () => {
  for (const role of ['owner', 'analyst', 'auditor'] as const) {
    const me = await (await signIn(role)).call('getMe');
    expect(me).toMatchObject({ role, name: people[role].name, organization: { name: 'Meridian Parcel' } });
  }
});

test('has work items in every state and sealed packages', async () => {
  const { data: items } = await owner.call('listWorkItems', { query: { limit: 100 } });
  expect(new Set(items.map(({ status }) => status))).toEqual(
    new Set(['open', 'in_progress', 'blocked', 'awaiting_verification', 'verified', 'closed_with_exceptions', 'cancelled']),
  );
  const { data: packages } = await owner.call('listEvidencePackages', { query: { limit: 100 } });
  expect(packages.map(({ status, conclusion }) => `${status} ${conclusion}`)).toEqual(['ready risk_accepted', 'ready remediated', 'ready remediated']);
});

test('has findings of six tools with decisions, and imports that failed or wait', async () => {
  const { by_source, by_status } = await owner.call('getFindingStats');
  expect(by_source.map(({ provider }) => provider)).toEqual(expect.arrayContaining(['trivy', 'grype', 'semgrep', 'gitleaks', 'nessus', 'zap']));
  for (const status of ['open', 'verified', 'risk_accepted', 'false_positive', 'remediated'] as const) expect(by_status[status], status).toBeGreaterThan(0);
  const { data: imports } = await owner.call('listImports', { query: { limit: 100 } });
  expect(
    imports
      .filter(({ status }) => status !== 'succeeded')
      .map(({ filename, status }) => `${filename} ${status}`)
      .sort(),
  ).toEqual(['export.xlsx failed', 'semgrep-checkout.json needs_confirmation']);
});

test('has views, a trusted pipeline, a webhook with deliveries, comments, versions and tracks', async () => {
  expect((await owner.call('listViews')).data.map(({ name }) => name)).toEqual(expect.arrayContaining(['Exploited and open', 'Blocked']));
  expect((await owner.call('listPipelineTrusts')).data).toMatchObject([{ name: 'checkout on GitHub' }]);
  const [webhook] = (await owner.call('listWebhooks')).data;
  // Those of the last moments are sent when the service starts again.
  const deliveries = async () => (await owner.call('listWebhookDeliveries', { path: { id: webhook?.id ?? '' } })).data.map(({ status }) => status);
  await expect.poll(async () => [...new Set(await deliveries())], { timeout: 20_000 }).toEqual(['succeeded']);
  const { data: items } = await owner.call('listWorkItems', { query: { q: 'Fix the reported code' } });
  expect((await owner.call('listWorkItemComments', { path: { id: items[0]?.id ?? '' } })).data).toHaveLength(2);
  const { data: images } = await owner.call('listAssets', { query: { type: ['container_image'], limit: 1 } });
  expect((await owner.call('listAssetVersions', { path: { id: images[0]?.id ?? '' } })).data).not.toEqual([]);
});

test('has healthy and failing connections', async () => {
  const { connections } = await owner.call('getIntegrationHealth');
  const names = (status: string) =>
    connections
      .filter((one) => one.status === status)
      .map(({ name }) => name)
      .sort();
  expect(names('failing')).toEqual(['Qualys (depots)', 'Snyk (courier app)']);
  expect(names('healthy')).toEqual(expect.arrayContaining(['CISA KEV', 'EPSS', 'Nightly image scan']));
});

test('has a history in the past, and a clock that is right again', async () => {
  const { data: events } = await owner.call('listAuditEvents', { query: { limit: 200 } });
  const times = events.map(({ occurred_at }) => Date.parse(occurred_at));
  expect(times).toEqual([...times].sort((a, b) => b - a));
  expect(Date.now() - Math.max(...times)).toBeLessThan(120_000);
  const { data: oldest } = await owner.call('listFindings', { query: { limit: 1, sort: 'created_at' } });
  const ageInDays = (Date.now() - Date.parse(oldest[0]?.created_at ?? '')) / 86_400_000;
  expect(ageInDays).toBeGreaterThan(WEEKS * 7 - 3);
  expect(ageInDays).toBeLessThan(WEEKS * 7);
});

test('deletes its data when it ends', async () => {
  expect(readdirSync(temporary)).not.toEqual([]);
  demo.kill('SIGINT');
  const [code] = await once(demo, 'exit');
  expect(code).toBe(0);
  expect(existsSync(temporary) ? readdirSync(temporary).filter((name) => name.startsWith('rrs-demo-')) : []).toEqual([]);
});

test('leaves nothing behind if it is stopped while it writes the history', async () => {
  const stopped = start();
  for await (const chunk of stopped.stdout) if (String(chunk).includes('Writing')) break;
  stopped.kill('SIGTERM');
  const [code] = await once(stopped, 'exit');
  expect(code).toBe(0);
  expect(readdirSync(temporary).filter((name) => name.startsWith('rrs-demo-'))).toEqual([]);
});
