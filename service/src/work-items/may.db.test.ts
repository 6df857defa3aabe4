import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Item, workItemsOf } from '../testing/findings/work-items.ts';
import { startApi, type TestApi } from '../testing/http/api.ts';
import { addPersonWithKey } from '../testing/people.ts';
import { settableStatuses } from './items/status.ts';

interface Shown extends Item {
  may: Record<'update' | 'change_findings' | 'push_ticket' | 'approve' | 'reject', string | null>;
  transitions: { to: string; needs: 'reason'[]; refused: string | null }[];
}

let api: TestApi;
let ours: ReturnType<typeof workItemsOf>;
beforeAll(async () => {
  api = await startApi();
  ours = workItemsOf(api);
});
afterAll(() => api?.close());

const show = async (id: string, as = api.ours.owner) => (await api.call('GET', `/api/v1/work-items/${id}`, { as })).body as Shown;

/** The statuses of the findings of one work item. */
const mixes = [[], ['open'], ['remediated'], ['open', 'remediated'], ['in_progress', 'false_positive']];

async function itemWith(mix: readonly string[], first: string): Promise<string> {
  const ids = await ours.findings(mix.length);
  for (const [at, status] of mix.entries()) {
    const more = { reason: 'patched', ...(status === 'false_positive' ? { justification: 'code_not_present' } : {}) };
    if (status !== 'open') await ours.patchFinding(ids[at] ?? '', { status, ...more });
  }
  const { id } = await ours.item(ids);
  if (first === 'blocked') await ours.patch(id, { status: 'blocked', reason: 'waits for a vendor' });
  return id;
}

it('offers exactly the statuses that a PATCH sets, whatever the findings are', async () => {
  for (const mix of mixes) {
    for (const first of mix.length > 1 ? (['open', 'blocked'] as const) : (['open'] as const)) {
      const id = await itemWith(mix, first);
      for (const to of settableStatuses) {
        const { transitions, status: from } = await show(id);
        if (to === from) continue;
        const offered = transitions.find((one) => one.to === to);
        const context = `${mix.join()} ${from} to ${to}`;
        if (offered?.needs.length) expect((await ours.patch(id, { status: to })).status, context).toBe(400);
        const { status, body } = await ours.patch(id, { status: to, reason: 'done so' });
        if (offered?.refused === null) expect({ status, is: (body as Shown).status }, context).toEqual({ status: 200, is: to });
        else
          expect({ status, ...(offered ? { detail: offered.refused } : {}) }, context).toMatchObject({
            status: 409,
            ...(offered ? { detail: (body as { detail: string }).detail } : {}),
          });
      }
    }
  }
});

it('says why somebody may not change, push or approve a work item', async () => {
  const { id } = await ours.item(await ours.findings(1));
  const all = { update: null, change_findings: null, push_ticket: null, approve: null, reject: null };
  expect((await show(id)).may).toEqual(all);
  const viewer = await show(id, await api.ours.key('viewer'));
  expect(new Set([...Object.values(viewer.may), ...viewer.transitions.map(({ refused }) => refused)])).toEqual(
    new Set(['This operation requires the permission "work_items:manage" (roles: owner, admin, analyst). Your role is viewer.']),
  );
  await api.call('PATCH', '/api/v1/organization', { as: api.ours.owner, body: { policy: { four_eyes: true } } });
  const refusal = 'Four-eyes policy: you created it. Ask somebody who had no part in the work to approve it.';
  expect((await show(id)).may).toEqual({ ...all, approve: refusal });
  expect(await ours.decide(id)).toMatchObject({ status: 409, body: { detail: refusal } });
  expect((await show(id, (await addPersonWithKey(api, api.ours, 'analyst')).key)).may).toEqual(all);
  await ours.patch(id, { status: 'cancelled', reason: 'given up' });
  const { may, transitions } = await show(id);
  expect(transitions).toEqual([]);
  const cancelled = 'The work item is cancelled and can no longer be approved or rejected.';
  expect(may).toEqual({
    update: null,
    change_findings: 'The work item is closed (cancelled). Findings can no longer be added or removed. Create another work item.',
    push_ticket: 'The work item is closed (cancelled) and can no longer be pushed.',
    approve: cancelled,
    reject: cancelled,
  });
  expect(await ours.call('POST', `/work-items/${id}/findings`, { finding_ids: await ours.findings(1) })).toMatchObject({
    status: 409,
    body: { detail: may.change_findings },
  });
});
