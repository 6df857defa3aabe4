import { afterAll, beforeAll, expect, it } from 'vitest';
import { workItemsOf } from '../testing/findings/work-items.ts';
import { startApi, type TestApi } from '../testing/http/api.ts';
import { addPersonWithKey } from '../testing/people.ts';

interface Comment {
  id: string;
  text: string | null;
  author: string;
  person: { id: string } | null;
  withdrawn_by: string | null;
  detail: string;
}

let api: TestApi;
let ada: { id: string; key: string };
let grace: { id: string; key: string };
beforeAll(async () => {
  api = await startApi();
  ada = await addPersonWithKey(api, api.ours, 'analyst');
  grace = await addPersonWithKey(api, api.ours, 'analyst');
});
afterAll(() => api?.close());

const send = async (method: string, path: string, as: string, body?: object) => {
  const answer = await api.call(method, `/api/v1${path}`, { as, ...(body ? { body } : {}) });
  return { status: answer.status, body: answer.body as Comment & { data: Comment[] } };
};

it.each(['findings', 'work-items'])('are added to %s, listed and withdrawn by their author or an admin', async (kind) => {
  const ours = workItemsOf(api);
  const id = kind === 'findings' ? await ours.finding() : (await ours.item([])).id;
  const path = `/${kind}/${id}/comments`;
  const text = '<b>not</b> bold\n@grace';
  const first = await send('POST', path, ada.key, { text });
  expect(first).toMatchObject({ status: 201, body: { text, person: { id: ada.id }, withdrawn_at: null } });
  const second = await send('POST', path, grace.key, { text: 'agreed' });
  expect((await send('GET', path, await api.ours.key('viewer'))).body.data.map((one) => one.text)).toEqual(['agreed', text]);
  expect((await send('POST', path, await api.ours.key('viewer'), { text: 'x' })).status).toBe(403);
  expect((await send('POST', path, ada.key, { text: ' ' })).status).toBe(400);
  for (const [method, body] of [['GET'], ['POST', { text: 'x' }]] as const) expect((await send(method, path, api.theirs.owner, body)).status).toBe(404);
  const withdraw = (comment: Comment, as: string) => send('POST', `${path}/${comment.id}/withdraw`, as);
  expect((await withdraw(first.body, grace.key)).status).toBe(403);
  expect((await withdraw(first.body, api.theirs.owner)).status).toBe(404);
  expect(await withdraw(first.body, ada.key)).toMatchObject({ status: 200, body: { text: null, author: first.body.author, withdrawn_by: first.body.author } });
  expect((await withdraw(first.body, ada.key)).status).toBe(200);
  expect(await withdraw(second.body, api.ours.owner)).toMatchObject({ status: 200, body: { text: null } });
  expect((await send('GET', path, grace.key)).body.data.map((one) => one.text)).toEqual([null, null]);
  const trail = await api.call('GET', `/api/v1/audit-events?object_id=${id}&sort=occurred_at`, { as: api.ours.owner });
  const actions = (trail.body as { data: { action: string }[] }).data.map(({ action }) => action.split('.')[1]);
  expect(actions.filter((action) => action?.startsWith('comment'))).toEqual(['commented', 'commented', 'comment_withdrawn', 'comment_withdrawn']);
  expect(JSON.stringify(trail.body)).not.toContain('agreed');
});

it('are about one object: a comment is not found under another one', async () => {
  const ours = workItemsOf(api);
  const [one = '', other = ''] = await ours.findings(2);
  const { body } = await send('POST', `/findings/${one}/comments`, ada.key, { text: 'here' });
  expect((await send('POST', `/findings/${other}/comments/${body.id}/withdraw`, ada.key)).status).toBe(404);
  expect((await send('POST', `/work-items/${one}/comments`, ada.key, { text: 'x' })).status).toBe(404);
});
