import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Role, roles } from '../../shared/permissions.ts';
import { copiesOf, workItemsOf } from '../../testing/findings/work-items.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addPersonWithKey } from '../../testing/people.ts';
import { type Status, statuses } from '../status.ts';
import { neededFields } from './needed.ts';

interface Offered {
  to: Status;
  needs: (typeof neededFields)[number][];
  requests_approval: boolean;
  refused: string | null;
}
interface Shown {
  status: Status;
  acceptance: { state: string } | null;
  transitions: Offered[];
  detail: string;
  errors?: { path: string }[];
}

let api: TestApi;
const callers: { role: Role; id: string; key: string }[] = [];
beforeAll(async () => {
  api = await startApi();
  for (const role of roles) callers.push({ role, ...(await addPersonWithKey(api, api.ours, role)) });
});
afterAll(() => api?.close());

const values = {
  reason: 'because of this',
  owner: 'Grace Hopper',
  expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  justification: 'code_not_present',
};
const show = async (id: string, as: string) => (await api.call('GET', `/api/v1/findings/${id}`, { as })).body as Shown;
const patch = async (id: string, as: string, body: object) => {
  const answer = await api.call('PATCH', `/api/v1/findings/${id}`, { as, body });
  return { status: answer.status, body: answer.body as Shown };
};

/** A finding of each status for each attempt, last changed by the given person. */
async function findingsWith(changedBy: string): Promise<Record<Status, string[]>> {
  const first = await workItemsOf(api).finding();
  await copiesOf(api, first, statuses.length * (statuses.length + 1));
  const made = await api.db.withTenant({ orgId: api.ours.id }, async (tx) => {
    const { rows } = await sql<{ id: string; status: Status }>`
      update findings f set title = 'used', status = n.status, status_changed_by = ${changedBy}, status_reason = 'so far',
        assurance = case when n.status in ('remediated', 'verified') then 'declared' end, justification = case n.status when 'false_positive' then 'code_not_present' end,
        acceptance_owner = case n.status when 'risk_accepted' then 'Ada' end, acceptance_expires_at = case n.status when 'risk_accepted' then now() + interval '9 days' end,
        closed_at = case when n.status in ('open', 'in_progress', 'remediated') then null else now() end
      from (select id, (${statuses as readonly string[]}::text[])[1 + row_number() over () % ${statuses.length}] as status from findings where title = (select title from findings where id = ${first}) and id <> ${first}) n
      where f.id = n.id returning f.id, f.status`.execute(tx);
    await sql`update findings set title = 'used' where id = ${first}`.execute(tx);
    return rows;
  });
  return Object.fromEntries(statuses.map((status) => [status, made.filter((one) => one.status === status).map(({ id }) => id)])) as Record<Status, string[]>;
}

it.each([
  { four_eyes: false, own: true },
  { four_eyes: true, own: false },
])('offers exactly the changes of status that a PATCH makes: %o', async ({ four_eyes, own }) => {
  await api.call('PATCH', '/api/v1/organization', { as: api.ours.owner, body: { policy: { four_eyes } } });
  for (const { role, id: person, key } of callers) {
    const unused = await findingsWith(own ? person : 'somebody else');
    for (const from of statuses) {
      const next = (): string => unused[from].pop() ?? '';
      const { transitions } = await show(next(), key);
      for (const to of statuses.filter((status) => status !== from)) {
        const offered = transitions.find((one) => one.to === to);
        const pick = (names: readonly (typeof neededFields)[number][]) => ({ status: to, ...Object.fromEntries(names.map((name) => [name, values[name]])) });
        const id = next();
        const context = `${role}, ${from} to ${to}`;
        if (offered && offered.refused === null) {
          for (const missing of four_eyes ? [] : offered.needs) {
            const answer = await patch(id, key, pick(offered.needs.filter((name) => name !== missing)));
            expect(answer, context).toMatchObject({ status: 400, body: { errors: [{ path: `/${missing}` }] } });
          }
          const { status, body } = await patch(id, key, pick(offered.needs));
          expect({ status, is: body.status, acceptance: body.acceptance?.state }, context).toMatchObject({
            status: 200,
            is: offered.requests_approval ? from : to,
            ...(offered.requests_approval ? { acceptance: 'requested' } : {}),
          });
        } else {
          const needed =
            offered?.needs ??
            (to === 'false_positive' ? (['reason', 'justification'] as const) : to === 'risk_accepted' ? neededFields.slice(0, 3) : (['reason'] as const));
          const { status, body } = await patch(id, key, pick(needed));
          expect([403, 409], context).toContain(status);
          if (offered) expect(body.detail, context).toBe(offered.refused);
        }
      }
    }
  }
});

it('says that a merged finding cannot change', async () => {
  const { findings, call } = workItemsOf(api);
  const [into = '', id = ''] = await findings(2);
  await call('POST', `/findings/${id}/merge`, { into, reason: 'the same' });
  const { transitions } = await show(id, api.ours.owner);
  expect(new Set(transitions.map(({ refused }) => refused))).toEqual(new Set([`The finding was merged into "${into}". Change that one instead.`]));
  expect(await patch(id, api.ours.owner, { status: 'in_progress' })).toMatchObject({ status: 409, body: { detail: transitions[0]?.refused } });
});
