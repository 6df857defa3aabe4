import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeAuthority, type TestAuthority } from '../../testing/fakes/certificate-authority.ts';
import { hasOpenssl } from '../../testing/fakes/timestamp-authority.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';

let api: TestApi;
let authority: TestAuthority;
let other: TestAuthority;
let url: string;
const server = () => createServer(authority.certify('localhost'), (_, answer) => answer.setHeader('content-type', 'application/json').end('{"data":[]}'));
let vendor: ReturnType<typeof server>;
beforeAll(async () => {
  api = await startApi({ config: { RRS_OUTBOUND_ALLOW: '127.0.0.0/8,::1/128' } });
  if (!hasOpenssl()) return;
  authority = makeAuthority();
  other = makeAuthority();
  vendor = server();
  vendor.listen(0, '127.0.0.1');
  await once(vendor, 'listening');
  url = `https://localhost:${(vendor.address() as AddressInfo).port}`;
});
afterAll(async () => {
  vendor?.closeAllConnections();
  vendor?.close();
  authority?.remove();
  other?.remove();
  await api?.close();
});
beforeEach(({ skip }) => skip(!hasOpenssl(), 'there is no openssl on this machine: apt-get install openssl'));

interface View {
  id: string;
  ok: boolean;
  config: Record<string, unknown>;
  error: { kind: string; message: string } | null;
  errors: { path: string; detail: string }[];
}

async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: View }> {
  const answer = await api.call(method, `/api/v1/integrations${path}`, { as: api.ours.owner, ...(body === undefined ? {} : { body }) });
  return { status: answer.status, body: answer.body as View };
}

const connect = (certificate_authority?: string) =>
  ask('POST', '', {
    provider: 'snyk',
    name: `snyk ${Math.random()}`,
    config: { api_url: url, organization_id: 'x', ...(certificate_authority === undefined ? {} : { certificate_authority }) },
    credentials: { token: 'token-of-a-test' },
    schedule: null,
  });
const test = async ({ body: { id } }: { body: View }) => (await ask('POST', `/${id}/test`)).body;

describe('the certificate authority of a connection', () => {
  it('is trusted by this connection only', async () => {
    const unknown = 'the certificate is signed by an unknown authority; enter the authority in the settings of the connection, or an operator can';
    const trusting = await connect(`${other.root}${authority.root}`);
    expect(await test(trusting)).toMatchObject({ ok: true, error: null });
    expect(await test(await connect())).toMatchObject({ ok: false, error: { kind: 'unavailable', message: expect.stringContaining(unknown) } });
    expect(await test(await connect(other.root))).toMatchObject({ ok: false, error: { message: expect.stringContaining(unknown) } });
    expect(await test(trusting)).toMatchObject({ ok: true });
  });

  it('requires the secrets again when it changes, but not when it is removed', async () => {
    const { body } = await connect(authority.root);
    const change = { config: { certificate_authority: other.root } };
    const detail = 'must be supplied again because the certificate authority changed';
    expect(await ask('PATCH', `/${body.id}`, change)).toMatchObject({ status: 400, body: { errors: [{ path: '/credentials/token', detail }] } });
    expect((await ask('PATCH', `/${body.id}`, { ...change, credentials: { token: 'token-of-a-test' } })).status).toBe(200);
    expect((await ask('PATCH', `/${body.id}`, { config: { organization_id: 'y' } })).status).toBe(200);
    const removed = await ask('PATCH', `/${body.id}`, { config: { certificate_authority: null } });
    expect(removed).toMatchObject({ status: 200, body: { config: { api_url: url } } });
    expect(removed.body.config).not.toHaveProperty('certificate_authority');
  });

  it.each([
    ['no certificate', () => 'not a certificate', /^must contain a certificate in PEM format/],
    ['a truncated certificate', () => authority.root.slice(0, 200), /^cannot be read: the certificate is damaged or incomplete/],
    ['a damaged second certificate', () => authority.root + other.root.replace('MII', 'AAA'), /^cannot be read: certificate 2 of 2 is damaged/],
    ['a private key', () => authority.certify('vendor.test').key, /^must not contain a private key/],
    ['an expired certificate', () => EXPIRED, /^has expired: the certificate \(CN=Old root\) was valid until 2021-01-01$/],
  ])('is refused if it is %s', async (_what, pem, detail) => {
    const { status, body } = await connect(pem());
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ path: '/config/certificate_authority', detail: expect.stringMatching(detail) }]);
  });

  it('cannot be set for vulnerability data, which all organizations share', async () => {
    const { status, body } = await ask('POST', '', { provider: 'osv', config: { certificate_authority: authority.root } });
    expect({ status, paths: body.errors.map(({ path }) => path) }).toEqual({ status: 400, paths: ['/config/certificate_authority'] });
  });
});

const EXPIRED = `-----BEGIN CERTIFICATE-----
MIIBRjCB7aADAgECAgEBMAoGCCqGSM49BAMCMBMxETAPBgNVBAMMCE9sZCByb290
MB4XDTIwMDEwMTAwMDAwMFoXDTIxMDEwMTAwMDAwMFowEzERMA8GA1UEAwwIT2xk
IHJvb3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQ11Q6q3BunalIK0hDURwBI
kkh1RXcQ/knqhdvJNWNzRUo5JkTIrm7BAP15H+tpZVeo7SFTF6+tZteSvh9EBWGE
ozIwMDAPBgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBQpwVrEhjUAxmObgPxLypnS
XRvFADAKBggqhkjOPQQDAgNIADBFAiEAv8J8WlI0BEi2QsqbiJ9fo2uQbNZENjQI
Pl1b4Oxpq4ECIGohpaFsiOcsMhmtEdAxlA3krQ/R1+qfZIcpYlEiHm/C
-----END CERTIFICATE-----
`;
