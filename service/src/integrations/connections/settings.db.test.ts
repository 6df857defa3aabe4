import { generateKeyPairSync } from 'node:crypto';
import type { Connector } from '@rrs/connectors';
import { fakes } from '@rrs/connectors/fakes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { builtIn } from './providers.ts';

const HERE = 'http://127.0.0.1:9001';
const ELSEWHERE = 'http://127.0.0.1:9002';

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ config: { RRS_OUTBOUND_ALLOW: '127.0.0.0/8', RRS_ENRICHMENT_MIRRORS: `${HERE},${ELSEWHERE}` } });
});
afterAll(() => api?.close());

interface View {
  id: string;
  version: number;
  inbound_url: string | null;
  config: Record<string, unknown>;
  credentials: Record<string, unknown>;
  detail: string;
  errors: { in: string; path: string; code: string; detail: string }[];
}

type Values = Record<string, unknown>;

async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: View }> {
  const answer = await api.call(method, `/api/v1${path}`, { as: api.ours.owner, ...(body === undefined ? {} : { body }) });
  return { status: answer.status, body: answer.body as View };
}

const create = (provider: string, config: Values, credentials: Values) =>
  ask('POST', '/integrations', { provider, name: `${provider} ${Math.random()}`, config, credentials, schedule: null });

function settingsOf({ id }: Connector, origin: string): { config: Values; credentials: Values } {
  const settings = fakes.find((fake) => fake.id === id)?.settings(origin);
  return { config: { ...(settings?.config as Values) }, credentials: { ...(settings?.credentials as Values) } };
}

const secretsOf = ({ credentials }: Connector, given: Values): string[] =>
  Object.keys(given).filter((name) => (credentials.properties[name] as { writeOnly?: boolean }).writeOnly === true);

const addressed = builtIn.flatMap((provider) => {
  const { config, credentials } = settingsOf(provider, HERE);
  const fields = Object.keys(config).filter((name) => JSON.stringify(config[name]).includes(HERE));
  return secretsOf(provider, credentials).length > 0 ? fields.map((field) => [provider.id, field, provider] as const) : [];
});

describe('a stored secret', () => {
  it('is tested for every connector with a secret and a configurable URL', () => {
    const without = builtIn.filter(({ id }) => !addressed.some(([other]) => other === id)).map(({ id }) => id);
    expect(without.sort()).toEqual(['cisa_kev', 'epss', 'osv']);
  });

  it.each(addressed)('of %s must be supplied again when %s changes', async (_id, field, provider) => {
    const { config, credentials } = settingsOf(provider, HERE);
    const { body: made } = await create(provider.id, config, credentials);
    const moved = { [field]: settingsOf(provider, ELSEWHERE).config[field] };
    const isAsked = provider.id !== 'jira' || field !== 'site_url';

    const refused = await ask('PATCH', `/integrations/${made.id}`, { config: moved });
    if (!isAsked) return expect(refused.status).toBe(200);
    expect(refused.status).toBe(400);
    expect(refused.body.errors.map(({ path, code }) => `${path} ${code}`).sort()).toEqual(
      secretsOf(provider, credentials)
        .map((name) => `/credentials/${name} required`)
        .sort(),
    );
    expect(refused.body.errors[0]?.detail).toBe('must be supplied again because the URL changed');
    expect((await ask('GET', `/integrations/${made.id}`)).body).toMatchObject({ version: 1, config: made.config });

    const again = await ask('PATCH', `/integrations/${made.id}`, { config: moved, credentials });
    expect(again.status).toBe(200);
    expect(again.body.config).toMatchObject(moved);
  });

  it('must be supplied again if the previous URL is unknown', async () => {
    const { body } = await create('snyk', { api_url: HERE, organization_id: 'x' }, { token: 'token-of-a-test' });
    await api.db.withSystem((tx) => tx.updateTable('connections').set({ config: '{"organization_id":"x"}' }).where('id', '=', body.id).execute());
    const refused = await ask('PATCH', `/integrations/${body.id}`, { config: { organization_id: 'y' } });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: '/credentials/token' }] } });
  });

  it('need not be supplied again if the origin stays the same or the secret is cleared', async () => {
    const { body: snyk } = await create('snyk', { api_url: `${HERE}/rest`, organization_id: 'x' }, { token: 'token-of-a-test' });
    expect((await ask('PATCH', `/integrations/${snyk.id}`, { config: { api_url: `${HERE}/v2`, organization_id: 'y' } })).status).toBe(200);
    const { body: nvd } = await create('nvd', { api_url: HERE }, { api_key: 'key-of-a-test' });
    expect((await ask('PATCH', `/integrations/${nvd.id}`, { config: { api_url: ELSEWHERE }, credentials: { api_key: null } })).status).toBe(200);
    expect((await ask('GET', `/integrations/${nvd.id}`)).body.credentials).toEqual({});
    const keys = { access_key_id: 'AKIATEST', secret_access_key: 'secret-of-a-test' };
    const { body: aws } = await create('aws_inspector2', { regions: ['eu-west-1', 'eu-west-2'] }, keys);
    expect((await ask('PATCH', `/integrations/${aws.id}`, { config: { regions: ['eu-west-2'] } })).status).toBe(200);
  });
});

describe('settings', () => {
  it('are refused with all errors at once, worded like other validation errors', async () => {
    const config = { url: 'ftp://x', region: 'no region!', coverage: 'some', prefix: 7, nonsense: 1 };
    const { status, body } = await create('report_url', config, { token: '', more: 'x' });
    expect(status).toBe(400);
    expect(Object.fromEntries(body.errors.map(({ path, code, detail }) => [path, `${code}: ${detail}`]))).toEqual({
      '/config/url': 'wrong_format: must be an http or https URL without a user name or password',
      '/config/region': expect.stringMatching(/^wrong_format: /),
      '/config/coverage': 'not_allowed: must be one of: complete, partial',
      '/config/prefix': 'wrong_type: must be of type string',
      '/config/nonsense': expect.stringMatching(/^unknown_field: is an unknown field \(allowed: url, bucket, /),
      '/credentials/token': 'too_short: must have at least 1 character',
      '/credentials/more': expect.stringMatching(/^unknown_field: /),
    });
    const missing = await create('snyk', {}, {});
    expect(missing.body.errors.map(({ path, code }) => `${path} ${code}`)).toEqual(['/config/organization_id required', '/credentials/token required']);
  });

  it.each([
    ['neither URL nor bucket', {}, {}, '/config/url'],
    ['both URL and bucket', { url: 'https://reports.example/a.json', bucket: 'b' }, {}, '/config/bucket'],
    ['a user name without a password', { url: 'https://reports.example/a.json' }, { username: 'ada' }, '/credentials/password'],
    ['a password without a user name', { url: 'https://reports.example/a.json' }, { password: 'p' }, '/credentials/username'],
    ['half of a key', { bucket: 'b' }, { access_key_id: 'AKIATEST' }, '/credentials/secret_access_key'],
    ['the other half', { bucket: 'b' }, { secret_access_key: 'secret-of-a-test' }, '/credentials/access_key_id'],
  ])('of report_url with %s are refused', async (_why, config, credentials, path) => {
    const { status, body } = await create('report_url', config, credentials);
    expect({ status, paths: body.errors?.map((error) => error.path) }).toEqual({ status: 400, paths: [path] });
  });

  it.each([
    ['github', {}, { token: 'token-of-a-test' }, '/config/organization'],
    ['aws_inspector2', { regions: ['eu-west-1', 'eu-west-2'], api_url: HERE }, { access_key_id: 'A', secret_access_key: 'S' }, '/config/api_url'],
    ['aws_inspector2', { regions: ['eu-west-1'], api_url: 'https://[{region}]' }, { access_key_id: 'A', secret_access_key: 'S' }, '/config'],
  ])('of %s that cannot work are refused', async (provider, config, credentials, path) => {
    const { status, body } = await create(provider, config, credentials);
    expect({ status, paths: body.errors?.map((error) => error.path) }).toEqual({ status: 400, paths: [path] });
  });

  it.each(['token\n', 'to\r\nken', 'to\u0001ken', 'to\u007fken'])('with the secret %j are refused', async (token) => {
    const { status, body } = await create('snyk', { organization_id: 'x' }, { token });
    expect(status).toBe(400);
    expect(body.errors).toEqual([
      { in: 'body', path: '/credentials/token', code: 'invalid_character', detail: 'must not contain line breaks or control characters' },
    ]);
  });

  it('accept line breaks in a private key, of which nothing is shown', async () => {
    const private_key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    const { status, body } = await create('github', { organization: 'acme' }, { app_id: '1', installation_id: '2', private_key });
    expect({ status, mark: body.credentials?.private_key }).toMatchObject({ status: 201, mark: { set: true, hint: null } });
    const damaged = await create('github', { organization: 'acme' }, { app_id: '1', installation_id: '2', private_key: private_key.slice(0, 300) });
    expect(damaged).toMatchObject({ status: 400, body: { errors: [{ path: '/credentials/private_key' }] } });
  });

  it.each(['http://10.1.2.3', 'http://[::1]:8080/rest', 'http://169.254.169.254', 'http://0xa.1', 'https://[fd00::1]/'])(
    'with the internal address %s are refused on creation and change',
    async (api_url) => {
      const refused = await create('snyk', { api_url, organization_id: 'x' }, { token: 'token-of-a-test' });
      expect(refused.status).toBe(400);
      expect(refused.body.errors).toMatchObject([{ path: '/config/api_url', code: 'not_allowed', detail: expect.stringContaining('RRS_OUTBOUND_ALLOW') }]);
      const { body } = await create('snyk', { api_url: HERE, organization_id: 'x' }, { token: 'token-of-a-test' });
      const change = { config: { api_url }, credentials: { token: 'token-of-a-test' } };
      expect((await ask('PATCH', `/integrations/${body.id}`, change)).status).toBe(400);
    },
  );

  it('that have become invalid do not prevent pausing the connection', async () => {
    const { body } = await create('report_url', { url: 'https://reports.example/a.json' }, {});
    await api.db.withSystem((tx) => tx.updateTable('connections').set({ config: '{"url":"http://10.1.2.3/"}' }).where('id', '=', body.id).execute());
    expect((await ask('PATCH', `/integrations/${body.id}`, { enabled: false })).status).toBe(200);
    expect((await ask('PATCH', `/integrations/${body.id}`, { config: { prefix: 'a' } })).status).toBe(400);
  });
});

describe('the provider catalog', () => {
  it('does not require fields that have a default', async () => {
    const answer = await api.call('GET', '/api/v1/integrations/catalog');
    const { data } = answer.body as { data: { id: string; config_schema: Schema; credentials_schema: Schema }[] };
    interface Schema {
      required?: string[];
      properties: Record<string, { default?: unknown }>;
    }
    for (const { id, config_schema, credentials_schema } of data)
      for (const { required = [], properties } of [config_schema, credentials_schema])
        expect({ id, required: required.filter((name) => properties[name]?.default !== undefined) }).toEqual({ id, required: [] });
    const { config_schema } = data.find(({ id }) => id === 'snyk') ?? expect.unreachable();
    expect(config_schema.required).toEqual(['organization_id']);
  });

  it('has the URL for webhooks, which the connection repeats with its id', async () => {
    const { body } = await api.call('GET', '/api/v1/integrations/catalog');
    const { data } = body as { data: { id: string; kind: string; inbound_url: string | null }[] };
    expect(data.filter(({ inbound_url }) => inbound_url !== null).map(({ id }) => id)).toEqual(
      data.filter(({ kind }) => kind === 'ticketing').map(({ id }) => id),
    );
    const { config, credentials } = settingsOf(builtIn.find(({ id }) => id === 'jira') ?? expect.unreachable(), HERE);
    const { body: made } = await create('jira', config, credentials);
    expect(made.inbound_url).toBe(data.find(({ id }) => id === 'jira')?.inbound_url?.replace('{connection_id}', made.id));
    expect((await api.call('POST', new URL(made.inbound_url ?? '').pathname, { body: Buffer.from('{}') })).status).toBe(401);
    expect((await create('snyk', { organization_id: 'x' }, { token: 'token-of-a-test' })).body.inbound_url).toBeNull();
  });
});
