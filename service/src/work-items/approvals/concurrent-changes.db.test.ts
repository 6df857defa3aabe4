import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { updateFinding } from '../../findings/triage/triage.ts';
import { systemActor } from '../../shared/actor.ts';
import { eventually } from '../../testing/eventually.ts';
import { workItemsOf } from '../../testing/findings/work-items.ts';
import { type ApiAnswer, startApi, type TestApi } from '../../testing/http/api.ts';
import { lockItems } from '../items/locks.ts';

let api: TestApi;
let ours: ReturnType<typeof workItemsOf>;
beforeAll(async () => {
  api = await startApi();
  ours = workItemsOf(api);
});
afterAll(() => api?.close());

type Change = (tx: Parameters<Parameters<TestApi['db']['withTenant']>[1]>[0]) => Promise<unknown>;
/** Transactions that wait for a lock on work items. */
const waiting = async () => (await api.db.systemQuery('waiting', `select from pg_locks where not granted and locktype = 'advisory'`, [])).length;

/** Approves the state as it is now, and commits a change after the state was computed and before the approval is recorded. */
async function approveWhile(id: string, change: Change): Promise<ApiAnswer> {
  const { body } = await ours.call('GET', `/work-items/${id}/state`);
  const { state_digest } = body as { state_digest: string };
  let approving: Promise<ApiAnswer> | undefined;
  await api.db.withTenant({ orgId: api.ours.id }, async (tx) => {
    await lockItems(tx, api.ours.id);
    approving = ours.call('POST', `/work-items/${id}/approvals`, { decision: 'approved', state_digest });
    await eventually(waiting).toBe(1);
    await change(tx);
  });
  return (await approving) as ApiAnswer;
}

describe('a change between computing the state and recording the approval', () => {
  const patch = (id: string, changed: object): Change => {
    const actor = systemActor(api.ours.id, 'a colleague');
    return (tx) => updateFinding(tx, actor, { id, patch: changed, check: () => {} }, api.follower);
  };

  it('refuses the approval and is named, if the state is another one afterwards', async () => {
    const [finding = ''] = await ours.findings(1);
    const { id } = await ours.item([finding]);
    expect(await approveWhile(id, patch(finding, { status: 'in_progress' }))).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(`finding ${finding}: state changed from "open" to "in_progress"`) },
    });
    expect(await ours.read(id)).toMatchObject({ approvals: [] });
  });

  it('does not prevent the approval, if the state is the same afterwards', async () => {
    const [finding = ''] = await ours.findings(1);
    const { id } = await ours.item([finding]);
    expect(await approveWhile(id, patch(finding, { tags: ['seen'] }))).toMatchObject({ status: 201 });
  });
});
