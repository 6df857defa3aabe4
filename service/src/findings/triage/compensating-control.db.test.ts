import type { Asset } from '@rrs/scan-reports';
import { afterEach, describe, expect, it } from 'vitest';
import { seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';
import { addPerson, createKey, signIn } from '../../testing/people.ts';

const service = useImportsWithApi();
const { finding, get, run, scan, send } = service;
let count = 0;

const control = 'A web application firewall blocks the path';
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const bare = { status: 'risk_accepted', reason: 'no update exists', owner: 'Grace Hopper', expires_at: inDays(30) };
const accept = { ...bare, compensating_control: control };

interface Shown {
  id: string;
  status: string;
  version: number;
  acceptance: { state: string; compensating_control: string | null } | null;
  decisions: { state: string; compensating_control: string | null }[];
}
interface Entry {
  action: string;
  before: Record<string, unknown>;
  after: Record<string, unknown>;
}

async function created(): Promise<string> {
  const { body } = await send('POST', '/findings', { title: `Finding ${++count}`, severity: 'high', asset: { type: 'host', name: `control-${count}` } });
  return (body as { id: string }).id;
}
const read = (id: string) => get<Shown>(`/findings/${id}`);
const patch = (id: string, body: object) => send('PATCH', `/findings/${id}`, body);
const bulk = (ids: string[], change: object) => send('POST', '/findings/bulk', { ids, change });
const last = async (id: string) => (await get<{ data: Entry[] }>(`/findings/${id}/history`)).data[0];
const named = (compensating_control: string | null) => ({ status: 'risk_accepted', acceptance: { state: 'active', compensating_control } });

describe('a compensating control', () => {
  it('is named with an acceptance, and is in the history, the decision and the list', async () => {
    const id = await created();
    expect(await patch(id, accept)).toMatchObject({ status: 200, body: { ...named(control), decisions: [{ compensating_control: control }] } });
    expect(await last(id)).toMatchObject({ before: { compensating_control: null }, after: { status: 'risk_accepted', compensating_control: control } });
    expect(await get(`/findings?status=risk_accepted&q=${encodeURIComponent(`"Finding ${count}"`)}`)).toMatchObject({ data: [{ id, ...named(control) }] });
    const csv = await send('GET', `/findings/export?format=csv&status=risk_accepted`);
    expect(String(csv.body)).toContain(control);
    await patch(id, { status: 'open', reason: 'an update exists' });
    expect(await read(id)).toMatchObject({ acceptance: null, decisions: [{ state: 'ended', compensating_control: control }] });
    expect(await last(id)).toMatchObject({ before: { compensating_control: control }, after: { compensating_control: null } });
  });

  it('is not required', async () => {
    const id = await created();
    expect(await patch(id, bare)).toMatchObject({ status: 200, body: { ...named(null), decisions: [{ compensating_control: null }] } });
    expect((await last(id))?.after).not.toHaveProperty('compensating_control');
  });

  it.each([
    ['without an acceptance', { status: 'false_positive', justification: 'code_not_present', compensating_control: control }, 'misplaced'],
    ['without a status', { tags: ['x'], compensating_control: control }, 'misplaced'],
    ['that is too short', { ...bare, compensating_control: 'x' }, expect.any(String)],
    ['without visible characters', { ...bare, compensating_control: '\u200b\u200b\u200b\u200b' }, expect.any(String)],
  ])('%s is refused', async (_, body, code) => {
    const id = await created();
    expect(await patch(id, body)).toMatchObject({ status: 400, body: { errors: [{ path: '/compensating_control', code }] } });
    expect(await read(id)).toMatchObject({ status: 'open', version: 1 });
  });

  it('stays if a new statement leaves it out, can be replaced, and is removed with null', async () => {
    const id = await created();
    await patch(id, accept);
    const longer = { ...bare, expires_at: inDays(60) };
    expect(await patch(id, longer)).toMatchObject({ body: { version: 3, ...named(control), decisions: [{ compensating_control: control }, {}] } });
    expect((await last(id))?.after).not.toHaveProperty('compensating_control');
    expect(await patch(id, { ...longer, compensating_control: control })).toMatchObject({ body: { version: 3 } });
    expect(await patch(id, { ...longer, compensating_control: 'The port is closed' })).toMatchObject({ body: { version: 4, ...named('The port is closed') } });
    expect(await last(id)).toMatchObject({ before: { compensating_control: control }, after: { compensating_control: 'The port is closed' } });
    expect(await patch(id, { ...longer, compensating_control: null })).toMatchObject({ body: { version: 5, ...named(null) } });
    expect(await last(id)).toMatchObject({ after: { compensating_control: null } });
  });

  it('of a bulk change follows the same rules', async () => {
    const ids = [await created(), await created()];
    const [one = '', other = ''] = ids;
    await patch(one, accept);
    expect(await bulk(ids, { ...accept, compensating_control: 'The port is closed' })).toMatchObject({ body: { counts: { changed: 2 } } });
    for (const id of ids) expect(await read(id)).toMatchObject({ ...named('The port is closed') });
    expect(await last(one)).toMatchObject({ before: { compensating_control: control }, after: { compensating_control: 'The port is closed' } });
    expect(await last(other)).toMatchObject({ before: { compensating_control: null }, after: { compensating_control: 'The port is closed' } });
    expect(await bulk(ids, bare)).toMatchObject({ body: { counts: { unchanged: 2 } } });
    const longer = { ...bare, expires_at: inDays(60) };
    await bulk([one], { ...longer, compensating_control: null });
    expect(await bulk(ids, longer)).toMatchObject({ body: { counts: { changed: 1, unchanged: 1 } } });
    expect(await read(one)).toMatchObject({ ...named(null), decisions: [{ state: 'active', compensating_control: null }, {}, {}] });
    expect(await read(other)).toMatchObject({
      ...named('The port is closed'),
      decisions: [{ state: 'active', compensating_control: 'The port is closed' }, {}],
    });
    const misplaced = await bulk(ids, { status: 'open', reason: 'again', compensating_control: control });
    expect(misplaced).toMatchObject({ status: 400, body: { errors: [{ path: '/compensating_control', code: 'misplaced' }] } });
  });
});

describe('under the four-eyes policy', () => {
  const fourEyes = (on: boolean) => send('PATCH', '/organization', { policy: { four_eyes: on } });
  afterEach(() => fourEyes(false));
  const keyOf = async () =>
    (await createKey(service.api(), { headers: await signIn(service.api(), await addPerson(service.api(), service.api().ours, 'admin')) }, 'analyst')).key;
  const as = (key: string) => (method: string, path: string, body: object) => service.api().call(method, `/api/v1${path}`, { as: key, body });

  it('a request carries the control, and the approval takes it over', async () => {
    const id = await created();
    await fourEyes(true);
    const [ada, grace] = [as(await keyOf()), as(await keyOf())];
    const requested = { status: 'open', acceptance: { state: 'requested', compensating_control: control } };
    expect(await ada('PATCH', `/findings/${id}`, accept)).toMatchObject({ status: 200, body: { version: 2, ...requested } });
    expect(await last(id)).toMatchObject({ action: 'acceptance_requested', after: { compensating_control: control } });
    expect(await ada('PATCH', `/findings/${id}`, accept)).toMatchObject({ body: { version: 2 } });
    expect(await grace('POST', `/findings/${id}/acceptance/approve`, {})).toMatchObject({ status: 200, body: named(control) });
    expect(await last(id)).toMatchObject({
      before: { compensating_control: null },
      after: { reason_code: 'acceptance_approved', compensating_control: control },
    });
    const { body } = await send('GET', `/audit-events?object_id=${id}&limit=2`);
    expect(body).toMatchObject({ data: [{ after: { compensating_control: control } }, { after: { compensating_control: control } }] });
  });

  it('a request without one keeps that of the acceptance which it extends', async () => {
    const [id, other] = [await created(), await created()];
    await bulk([id, other], accept);
    await fourEyes(true);
    const [ada, grace] = [as(await keyOf()), as(await keyOf())];
    const longer = { ...bare, expires_at: inDays(60) };
    expect(await ada('PATCH', `/findings/${id}`, longer)).toMatchObject({ body: { version: 3 } });
    expect(await ada('PATCH', `/findings/${id}`, longer)).toMatchObject({ body: { version: 3 } });
    expect(await last(id)).toMatchObject({ action: 'acceptance_requested', after: { compensating_control: control } });
    expect(await ada('PATCH', `/findings/${other}`, { ...longer, compensating_control: null })).toMatchObject({ body: { version: 3, ...named(control) } });
    expect(await ada('POST', '/findings/bulk', { ids: [id, other], change: longer })).toMatchObject({ body: { counts: { changed: 1, unchanged: 1 } } });
    await ada('PATCH', `/findings/${other}`, { ...longer, compensating_control: null });
    expect(await grace('POST', '/findings/bulk', { ids: [id, other], change: { acceptance: 'approve' } })).toMatchObject({ body: { counts: { changed: 2 } } });
    expect(await read(id)).toMatchObject(named(control));
    expect(await read(other)).toMatchObject(named(null));
    expect(await last(other)).toMatchObject({ before: { compensating_control: control }, after: { compensating_control: null } });
  });

  it('a rejected request leaves the control of the acceptance', async () => {
    const id = await created();
    await patch(id, accept);
    await fourEyes(true);
    const [ada, grace] = [as(await keyOf()), as(await keyOf())];
    await ada('PATCH', `/findings/${id}`, { ...bare, compensating_control: 'The port is closed' });
    expect(await grace('POST', `/findings/${id}/acceptance/reject`, { reason: 'it is open' })).toMatchObject({ body: named(control) });
    expect(await last(id)).toMatchObject({ action: 'acceptance_rejected', after: { compensating_control: 'The port is closed' } });
  });
});

describe('the control of an acceptance', () => {
  const image = (): Asset => ({ type: 'container_image', name: `control-${++count}:prod` });
  const cve = () => `CVE-2026-${50_000 + count}`;

  it('ends with the finding, and is named again when the acceptance resumes', async () => {
    const asset = image();
    const one = seen({ asset, vulnerability_ids: [cve()], location: { component: 'libfoo' } });
    await scan(asset, [one], 1);
    const { id } = await finding(cve());
    await patch(id, accept);
    await scan(asset, [], 2);
    expect(await read(id)).toMatchObject({ status: 'verified', acceptance: null });
    await scan(asset, [one], 3);
    expect(await read(id)).toMatchObject(named(control));
    expect(await last(id)).toMatchObject({ after: { reason_code: 'acceptance_resumed', compensating_control: control } });
  });

  it('is gone while the finding is reported at another place, and named again after that', async () => {
    const asset = image();
    const at = (path: string) => seen({ asset, vulnerability_ids: [cve()], location: { component: 'foo', path } });
    await scan(asset, [at('a/lib.jar')], 1);
    const { id } = await finding(cve());
    await patch(id, accept);
    await scan(asset, [at('a/lib.jar'), at('b/lib.jar')], 2);
    expect(await read(id)).toMatchObject({ status: 'open', acceptance: null });
    await scan(asset, [at('a/lib.jar')], 3);
    expect(await last(id)).toMatchObject({ after: { reason_code: 'decision_resumed', compensating_control: control } });
    expect(await read(id)).toMatchObject(named(control));
  });

  it('is cleared when the risk has increased', async () => {
    const asset = image();
    const at = (known_exploited: boolean) => seen({ asset, vulnerability_ids: [cve()], location: { component: 'foo' }, known_exploited });
    await run([at(false)], {});
    const { id } = await finding(cve());
    await patch(id, accept);
    await run([at(true)], {});
    expect(await last(id)).toMatchObject({ before: { compensating_control: control }, after: { reason_code: 'risk_increased', compensating_control: null } });
    expect(await read(id)).toMatchObject({ status: 'open', acceptance: null });
  });

  /** Two findings of one asset in two components. The first one is older. */
  async function twoFindings(): Promise<[string, string]> {
    const asset = image();
    const at = (component: string, title: string) => seen({ asset, vulnerability_ids: [cve()], location: { component }, title });
    await scan(asset, [at('libfoo', 'first')], 1);
    await scan(asset, [at('foo', 'second')], 2, 'tool_b');
    const { data } = await get<{ data: Shown[] }>(`/findings?cve=${cve()}&sort=created_at`);
    return data.map(({ id }) => id) as [string, string];
  }
  const merge = (id: string, into: string) => send('POST', `/findings/${id}/merge`, { into, reason: 'one library' });
  const split = (id: string) => send('POST', `/findings/${id}/split`, { reason: 'two libraries' });

  it('goes with it to the finding that stays, and comes back with it', async () => {
    const [older, newer] = await twoFindings();
    await patch(older, { status: 'false_positive', justification: 'code_not_reachable' });
    await patch(newer, accept);
    await merge(newer, older);
    expect(await read(older)).toMatchObject({ ...named(control), decisions: [{ state: 'active', compensating_control: control }, {}] });
    expect((await get<{ data: Entry[] }>(`/findings/${older}/history`)).data).toContainEqual(
      expect.objectContaining({ after: expect.objectContaining({ reason_code: 'merged', compensating_control: control }) }),
    );
    expect(await read(newer)).toMatchObject({ status: 'withdrawn', acceptance: null });
    expect(await split(newer)).toMatchObject({ status: 200 });
    expect(await read(newer)).toMatchObject({ ...named(control), decisions: [{ state: 'active', compensating_control: control }] });
    expect(await last(newer)).toMatchObject({ action: 'split', after: { compensating_control: control } });
    expect(await read(older)).toMatchObject({ status: 'false_positive', acceptance: null });
  });

  it('is that of the finding that stays if both are accepted', async () => {
    const [older, newer] = await twoFindings();
    await patch(older, accept);
    await patch(newer, { ...bare, compensating_control: 'The port is closed' });
    await merge(newer, older);
    expect(await read(older)).toMatchObject(named(control));
    await split(newer);
    expect(await read(older)).toMatchObject(named(control));
    expect(await read(newer)).toMatchObject(named('The port is closed'));
  });

  it('stays with the finding that it was named for when an alias is revoked', async () => {
    const asset = image();
    const ghsa = `GHSA-cccc-dddd-${String(count).padStart(4, '0')}`;
    const reported = (ids: string[]) => seen({ asset, vulnerability_ids: ids });
    for (const source of ['tool_a', 'tool_b'] as const) await scan(asset, [reported([cve(), ghsa])], 1, source);
    await scan(asset, [reported([ghsa])], 1, 'tool_c');
    const { id } = await finding(cve());
    await patch(id, accept);
    expect(await send('POST', `/vulnerability-aliases/${ghsa}/revoke`, { reason: 'checked' })).toMatchObject({ status: 200 });
    expect(await read(id)).toMatchObject(named(control));
    expect(await finding(ghsa)).toMatchObject({ status: 'open', acceptance: null });
  });
});
