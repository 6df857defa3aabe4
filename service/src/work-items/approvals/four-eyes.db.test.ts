import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evidenceFindings } from '../../findings/facts/finding-facts.ts';
import { systemActor } from '../../shared/actor.ts';
import { AUDIENCE, type IdentityProvider, startIdentityProvider } from '../../testing/fakes/identity-provider.ts';
import { workItemsOf } from '../../testing/findings/work-items.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addNewcomer, addPerson, behindProxy, createKey, signIn } from '../../testing/people.ts';
import { updateWorkItem } from '../items/update.ts';

let provider: IdentityProvider;
let api: TestApi;
beforeAll(async () => {
  provider = await startIdentityProvider();
  api = await startApi({ config: { ...behindProxy, RRS_OIDC_ISSUER: provider.issuer, RRS_OIDC_AUDIENCE: AUDIENCE } });
  await api.call('PATCH', '/api/v1/organization', { as: api.ours.owner, body: { policy: { four_eyes: true } } });
});
afterAll(async () => {
  await api?.close();
  await provider?.stop();
});

type Caller = ReturnType<typeof workItemsOf>;
const approve = (who: Caller, id: string) => who.decide(id);
const refused = (part: string) => ({ status: 409, body: { code: 'conflict', detail: expect.stringContaining(part) } });

describe('a person who took part in the work', () => {
  it('cannot approve it: one user with an access token, a session and keys', async () => {
    const ada = await addPerson(api, api.ours, 'admin');
    const sso = await provider.forge({ organization: 'ours', sub: 'ada', email: ada.email, email_verified: true, role: 'admin', name: 'A. Lovelace' });
    const key = (await createKey(api, { headers: await signIn(api, ada) }, 'admin')).key;
    const keyOfKey = (await createKey(api, { as: key }, 'analyst')).key;
    const owner = workItemsOf(api);
    const credentials = [sso, key, keyOfKey].map((credential) => workItemsOf(api, credential));

    const worked = await owner.item(await owner.findings(1));
    expect(await workItemsOf(api, sso).patch(worked.id, { status: 'in_progress' })).toMatchObject({ status: 200 });
    for (const credential of credentials) expect(await approve(credential, worked.id)).toMatchObject(refused('you did the work'));

    const claimed = await owner.item(await owner.findings(2));
    expect(await workItemsOf(api, sso).patch(claimed.id, { status: 'awaiting_verification', reason: 'patched' })).toMatchObject({ status: 200 });
    for (const credential of credentials) expect(await approve(credential, claimed.id)).toMatchObject(refused('you claimed'));

    const created = await workItemsOf(api, keyOfKey).item([]);
    for (const credential of credentials) expect(await approve(credential, created.id)).toMatchObject(refused('you created it'));

    const grace = await addPerson(api, api.ours, 'analyst');
    const other = workItemsOf(api, await provider.forge({ organization: 'ours', sub: 'grace', email: grace.email, email_verified: true }));
    for (const { id } of [worked, claimed, created]) expect(await approve(other, id)).toMatchObject({ status: 201, body: { independent: true } });
  });

  it('cannot approve it with a second key that the first key made, nor with any other key that belongs to nobody', async () => {
    const [root, other] = [await api.ours.key('admin'), await api.ours.key('analyst')];
    const second = (await createKey(api, { as: root }, 'analyst', { name: 'Head of Security' })).key;
    const { id } = await workItemsOf(api, root).item([]);
    expect(await approve(workItemsOf(api, second), id)).toMatchObject(refused('you created it'));
    expect(await approve(workItemsOf(api, other), id)).toMatchObject(refused('somebody who did can use your credential'));
    const member = (await createKey(api, { headers: await signIn(api, await addPerson(api, api.ours, 'admin')) }, 'analyst')).key;
    expect(await approve(workItemsOf(api, member), id)).toMatchObject({ status: 201, body: { independent: true } });
  });

  it('cannot approve it as a member whom they added, or whose password they set, even after that password was changed', async () => {
    const [ada, grace] = [await addPerson(api, api.ours, 'admin'), await addPerson(api, api.ours, 'analyst')];
    const adaKey = (await createKey(api, { headers: await signIn(api, ada) }, 'admin')).key;
    const { id } = await workItemsOf(api, adaKey).item([]);
    const chosen = 'a password that Ada has chosen';
    const ownPassword = 'a password that is new';
    const puppet = await addNewcomer(api, api.ours, 'analyst', adaKey);
    await api.call('PATCH', `/api/v1/members/${grace.id}`, { as: adaKey, body: { password: chosen } });
    for (const { email, password } of [puppet, { ...grace, password: chosen }]) {
      const first = await signIn(api, { email, password });
      await api.call('PUT', '/api/v1/me/password', { headers: first, body: { current_password: password, new_password: ownPassword } });
      const session = await signIn(api, { email, password: ownPassword });
      const state = await api.call('GET', `/api/v1/work-items/${id}/state`, { headers: session });
      const { state_digest } = state.body as { state_digest: string };
      const answer = await api.call('POST', `/api/v1/work-items/${id}/approvals`, { headers: session, body: { decision: 'approved', state_digest } });
      expect(answer).toMatchObject(refused('somebody who did can use your credential'));
    }
  });

  it('cannot approve it after being removed as a member', async () => {
    const gone = await addPerson(api, api.ours, 'admin');
    const sso = await provider.forge({ organization: 'ours', sub: 'gone', email: gone.email, email_verified: true, role: 'admin' });
    const { id } = await workItemsOf(api, sso).item([]);
    await api.call('DELETE', `/api/v1/members/${gone.id}`, { as: api.ours.owner });
    expect(await approve(workItemsOf(api, sso), id)).toMatchObject(refused('you created it'));
  });
});

it("a change that a ticket makes is nobody's: it neither excludes anybody nor counts as a second person", async () => {
  const owner = workItemsOf(api);
  const [finding = ''] = await owner.findings(1);
  const { id } = await owner.item([finding]);
  const patch = { status: 'awaiting_verification', reason: 'The ticket was closed.' } as const;
  const jira = systemActor(api.ours.id, 'Jira');
  await api.db.withTenant(jira, (tx) => updateWorkItem(tx, jira, { id, patch, check: () => {} }));
  const { data } = await owner.list(`/work-items/${id}/timeline?limit=2`);
  expect(data).toMatchObject([{ actor: { type: 'system', name: 'Jira' }, person: null }, { person: null }]);
  expect(await owner.readFinding(finding)).toMatchObject({ status: 'remediated', reason_code: 'by_connection' });
  const person = await addPerson(api, api.ours, 'admin');
  const stranger = workItemsOf(api, (await createKey(api, { headers: await signIn(api, person) }, 'analyst')).key);
  expect(await approve(stranger, id)).toMatchObject({ status: 201, body: { independent: true, person: { id: person.id } } });
  expect(await stranger.patchFinding(finding, { status: 'verified' })).toMatchObject({ assurance: 'declared' });
});

it('a decision names the person in evidence, whatever the credential', async () => {
  const person = await addPerson(api, api.ours, 'admin');
  const key = (await createKey(api, { headers: await signIn(api, person) }, 'admin')).key;
  const owner = workItemsOf(api);
  const [finding = ''] = await owner.findings(1);
  await workItemsOf(api, key).patchFinding(finding, { status: 'false_positive', justification: 'code_not_present' });
  const { rows } = await api.db.withTenant({ orgId: api.ours.id }, (tx) => evidenceFindings(api.ours.id, sql`select ${finding}::uuid`).execute(tx));
  expect(rows).toMatchObject([{ changes: [{ status: 'false_positive', actor: { person: person.id, person_name: expect.stringMatching(/^Person \d+$/) } }] }]);
});
