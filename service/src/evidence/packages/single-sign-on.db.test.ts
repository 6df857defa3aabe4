import { afterAll, beforeAll, expect, it } from 'vitest';
import { usePackages } from '../../testing/evidence/packages.ts';
import { AUDIENCE, type IdentityProvider, startIdentityProvider } from '../../testing/fakes/identity-provider.ts';

let provider: IdentityProvider;
const config: Record<string, string> = {};
beforeAll(async () => {
  provider = await startIdentityProvider();
  Object.assign(config, { RRS_OIDC_ISSUER: provider.issuer, RRS_OIDC_AUDIENCE: AUDIENCE });
});
const world = usePackages({ config });
afterAll(() => provider?.stop());

it('a package can be about, approved and requested by people whom only the identity provider knows', async () => {
  const tokenOf = (sub: string) => provider.forge({ organization: 'ours', sub, role: 'admin', name: `Person ${sub}` });
  const [worker, approver] = [await tokenOf('auth0|worker'), await tokenOf('AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ')];
  await world.scan('sso.example:1', ['openssl'], { as: worker });
  const { id } = await world.workItem('Update', { asset: 'sso.example' }, worker);
  await world.post(`/riskops-evidence/work-items/${id}/artifacts`, { type: 'other', title: 'link', url: 'https://example.com' }, worker);
  expect(await world.decide(id, approver)).toMatchObject({ decision: 'approved' });
  const sealed = await world.seal(id, {}, worker);
  expect(sealed).toMatchObject({ status: 'ready', error: null });
  const verdict = await world.post(`/riskops-evidence/packages/${sealed.package_id}/verify`, undefined);
  expect(verdict).toMatchObject({ verdict: 'verified' });
});
