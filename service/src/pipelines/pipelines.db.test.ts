import { generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGuard } from '../net/addresses.ts';
import { createOutbound } from '../net/request.ts';
import { usePackages } from '../testing/evidence/packages.ts';
import { type IdentityProvider, startIdentityProvider } from '../testing/fakes/identity-provider.ts';
import { behindProxy, fromRandomAddress } from '../testing/people.ts';
import { createIssuers } from './issuers.ts';

const world = usePackages({ config: { ...behindProxy, RRS_OUTBOUND_ALLOW: '127.0.0.1' } });
let issuer: IdentityProvider;
let stranger: IdentityProvider;
beforeAll(async () => {
  [issuer, stranger] = await Promise.all([startIdentityProvider(), startIdentityProvider()]);
});
afterAll(() => Promise.all([issuer?.stop(), stranger?.stop()]));

interface Trust {
  id: string;
  audience: string;
  version: number;
}
const shop = { repository: 'acme/shop', ref: 'refs/heads/main', ref_protected: 'true', environment: 'production', sha: 'abc', run_id: '17' };
const call = (method: string, path: string, as: string, body?: unknown) =>
  world.api().call(method, `/api/v1${path}`, { as, headers: fromRandomAddress(), ...(body === undefined ? {} : { body }) });
const trusted = async (more: object = {}, as = world.api().ours.owner): Promise<Trust> => {
  const body = { name: 'shop', issuer: issuer.issuer, conditions: { repository: ['acme/shop'], ref: ['refs/heads/main'] }, role: 'analyst', ...more };
  const answer = await call('POST', '/pipeline-trusts', as, body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body as Trust;
};
const audienceOf = (organization: { id: string }): string => `rrs:${organization.id}`;
const token = (claims: object = {}, audience = audienceOf(world.api().ours)) => issuer.token({ ...shop, ...claims }, { audience });
const statusOf = async (bearer: string): Promise<number> => (await call('GET', '/me', bearer)).status;
const upload = async (bearer: string, scope: object = {}) => {
  const query = new URLSearchParams({ format: 'generic', scan_scope: JSON.stringify(scope) });
  const report = JSON.stringify([
    { title: 'A weakness', severity: 'high', cves: ['CVE-2026-0001'], component: 'ssl', version: '1', asset: { type: 'repository', name: 'acme/shop' } },
  ]);
  const headers = { ...fromRandomAddress(), 'content-type': 'application/octet-stream', prefer: 'wait=30' };
  return world.api().call('POST', `/api/v1/imports?${query}`, { as: bearer, body: report, headers });
};

const issuersWith = (allowed: string[]) => createIssuers(createOutbound({ guard: createGuard(allowed) }));

describe('a token of a trusted pipeline', () => {
  it('is a credential with the role of the trust, until the trust is changed or deleted', async () => {
    const { id, audience } = await trusted();
    expect(audience).toBe(audienceOf(world.api().ours));
    const bearer = await token();
    expect(await call('GET', '/me', bearer)).toMatchObject({
      status: 200,
      body: { type: 'oidc', role: 'analyst', organization: { slug: 'ours' }, expires_at: expect.any(String) },
    });
    expect(await call('PATCH', `/pipeline-trusts/${id}`, world.api().ours.owner, { conditions: { repository: ['acme/other'] } })).toMatchObject({
      status: 200,
      body: { version: 2 },
    });
    expect(await statusOf(bearer)).toBe(401);
    await call('PATCH', `/pipeline-trusts/${id}`, world.api().ours.owner, { conditions: { repository: ['acme/*'] } });
    expect(await statusOf(bearer)).toBe(200);
    expect((await call('DELETE', `/pipeline-trusts/${id}`, world.api().ours.owner)).status).toBe(204);
    expect(await statusOf(bearer)).toBe(401);
    const audit = await call('GET', `/audit-events?object_id=${id}`, world.api().ours.owner);
    const actions = (audit.body as { data: { action: string }[] }).data.map(({ action }) => action);
    expect(new Set(actions)).toEqual(new Set(['pipeline_trust.created', 'pipeline_trust.updated', 'pipeline_trust.deleted']));
  });

  it('is refused with another audience, repository, issuer, signature or time', async () => {
    const { id } = await trusted();
    const { ours, theirs } = world.api();
    const now = Math.floor(Date.now() / 1000);
    const forged = (claims: object, header?: Record<string, string>, key?: Parameters<IdentityProvider['forge']>[2]) =>
      issuer.forge({ aud: audienceOf(ours), ...shop, ...claims }, header, key);
    const none =
      `${btoa(JSON.stringify({ alg: 'none' }))}.${btoa(JSON.stringify({ iss: issuer.issuer, aud: audienceOf(ours), sub: 'x', iat: now, exp: now + 600, ...shop }))}.`.replaceAll(
        '=',
        '',
      );
    const refused = {
      'condition not met': await token({ ref: 'refs/heads/feature' }),
      'condition missing': await token({ ref: undefined }),
      'similar repository': await token({ repository: 'acme/shop2' }),
      'list instead of a value': await token({ repository: ['acme/shop'] }),
      'audience of another organization': await token({}, audienceOf(theirs)),
      'another audience': await token({}, 'https://example.com'),
      'no organization': await token({}, 'rrs:everybody'),
      'two audiences': await forged({ aud: [audienceOf(ours), 'https://example.com'] }),
      'issuer that is not trusted': await stranger.token({ ...shop }, { audience: audienceOf(ours) }),
      'issuer claimed by a stranger': await stranger.forge({ iss: issuer.issuer, aud: audienceOf(ours), ...shop }),
      expired: await forged({ iat: now - 700, exp: now - 60 }),
      'not valid yet': await forged({ nbf: now + 600 }),
      'without expiry': await forged({ exp: null }),
      'too old': await forged({ iat: now - 2 * 86_400, exp: now + 600 }),
      'algorithm none': none,
      'signed with another key': await forged({}, {}, (await generateKeyPair('RS256')).privateKey),
      'signed with the public key as a secret': await forged({}, { alg: 'HS256' }, new TextEncoder().encode(JSON.stringify(issuer.publicJwk))),
    };
    for (const [what, bearer] of Object.entries(refused)) expect([what, await statusOf(bearer)]).toEqual([what, 401]);
    expect(await statusOf(await forged({}))).toBe(200);
    await call('DELETE', `/pipeline-trusts/${id}`, ours.owner);
  });

  it('of a repository that another organization trusts, too, is good for the organization in its audience only', async () => {
    const { ours, theirs } = world.api();
    const mine = await trusted();
    await trusted({}, theirs.owner);
    expect(await call('GET', '/me', await token())).toMatchObject({ body: { organization: { slug: 'ours' } } });
    expect(await call('GET', '/me', await token({}, audienceOf(theirs)))).toMatchObject({ body: { organization: { slug: 'theirs' } } });
    await call('DELETE', `/pipeline-trusts/${mine.id}`, ours.owner);
    expect(await statusOf(await token())).toBe(401);
  });

  it('imports and reads, and can do nothing else', async () => {
    const { id } = await trusted();
    const bearer = await token();
    const imported = await upload(bearer);
    expect(imported).toMatchObject({
      status: 202,
      body: {
        status: 'succeeded',
        pipeline: { trust_id: id, issuer: issuer.issuer, repository: 'acme/shop', ref: 'refs/heads/main', ref_protected: true, run_id: '17' },
      },
    });
    const { data } = (await call('GET', '/findings?asset=acme/shop', bearer)).body as { data: { id: string }[] };
    expect(data.length).toBeGreaterThan(0);
    expect(await call('PATCH', `/findings/${data[0]?.id}`, bearer, { status: 'in_progress' })).toMatchObject({ status: 403 });
    expect(await call('POST', '/work-items', bearer, { title: 'x' })).toMatchObject({ status: 403 });
    expect(await call('POST', '/api-keys', bearer, { name: 'x', role: 'viewer' })).toMatchObject({ status: 403 });
    await call('PATCH', `/pipeline-trusts/${id}`, world.api().ours.owner, { role: 'viewer' });
    expect((await upload(bearer)).status).toBe(403);
    await call('DELETE', `/pipeline-trusts/${id}`, world.api().ours.owner);
  });

  it('of a trust for one asset sees and imports nothing else', async () => {
    const { owner } = world.api().ours;
    const asset = { type: 'repository', name: 'acme/limited' };
    const { id: asset_id } = (await call('POST', '/assets', owner, asset)).body as { id: string };
    const other = (await upload(owner)).body as { id: string };
    const { id } = await trusted({ asset_id });
    const bearer = await token();
    const imported = await upload(bearer);
    expect(imported).toMatchObject({ status: 202, body: { status: 'succeeded', scan_scope: { asset } } });
    expect(await upload(bearer, { asset: { type: 'repository', name: 'acme/shop' } })).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('acme/limited') },
    });
    expect(await upload(bearer, { assets: [{ type: 'repository', name: 'acme/shop' }] })).toMatchObject({ status: 403 });
    expect(await call('GET', `/findings?asset_id=${asset_id}`, bearer)).toMatchObject({ status: 200, body: { data: [{ title: 'A weakness' }] } });
    for (const path of ['/findings', `/findings?asset_id=${other.id}`, '/assets', '/work-items', '/imports'])
      expect([path, (await call('GET', path, bearer)).status]).toEqual([path, 403]);
    expect((await call('GET', `/imports/${(imported.body as { id: string }).id}/changes`, bearer)).status).toBe(200);
    expect((await call('GET', `/imports/${other.id}`, bearer)).status).toBe(404);
    await call('DELETE', `/pipeline-trusts/${id}`, owner);
  });

  it('is accepted after the issuer changed its keys, and one that the old key signed is not', async () => {
    const issuers = issuersWith(['127.0.0.1']);
    const expected = { issuer: issuer.issuer, audience: audienceOf(world.api().ours) };
    const old = await token();
    expect(await issuers.verify(old, expected)).toMatchObject({ repository: 'acme/shop' });
    await issuer.restart();
    // Unknown keys are looked for at most every half minute.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await issuers.verify(await token(), expected)).toMatchObject({ repository: 'acme/shop' });
    expect(await issuers.verify(old, expected)).toBeNull();
  });
});

describe('a trust', () => {
  it.each([
    ['wildcards that match strangers', { conditions: { repository: ['acme*'] } }, '/conditions/repository/0'],
    ['no condition on whose pipeline it is', { conditions: { ref: ['refs/heads/main'] } }, '/conditions'],
    ['an issuer in a private network', { issuer: 'https://10.0.0.1' }, '/issuer'],
    ['the address of cloud metadata', { issuer: 'https://169.254.169.254' }, '/issuer'],
    ['an issuer without TLS', { issuer: 'http://issuer.example.com' }, '/issuer'],
    ['a user in the address of the issuer', { issuer: 'https://user@issuer.example.com' }, '/issuer'],
    ['a role that manages access', { role: 'admin' }, '/role'],
  ])('with %s is refused', async (_, more, path) => {
    const body = { name: 'x', issuer: issuer.issuer, conditions: { repository: ['acme/shop'] }, role: 'analyst', ...more };
    expect(await call('POST', '/pipeline-trusts', world.api().ours.owner, body)).toMatchObject({ status: 400, body: { errors: [{ path }] } });
  });

  it('in an issuer whose name leads to a private network is not followed', async () => {
    const issuers = issuersWith([]);
    await expect(issuers.verify(await token(), { issuer: 'https://localhost', audience: 'x' })).rejects.toThrow(/cannot be read/);
    await expect(issuers.verify(await token(), { issuer: issuer.issuer, audience: 'x' })).rejects.toThrow(/cannot be read/);
  });

  it('is managed by admins, and refers to assets of the own organization only', async () => {
    const { ours, theirs } = world.api();
    expect((await call('GET', '/pipeline-trusts', await ours.key('analyst'))).status).toBe(403);
    const { id: asset_id } = (await call('POST', '/assets', theirs.owner, { type: 'repository', name: 'theirs' })).body as { id: string };
    const body = { name: 'x', issuer: issuer.issuer, conditions: { repository: ['acme/shop'] }, role: 'analyst', asset_id };
    expect(await call('POST', '/pipeline-trusts', await ours.key('admin'), body)).toMatchObject({ status: 404 });
  });
});
