import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roles } from '../shared/permissions.ts';
import type { ApiAnswer } from '../testing/http/api.ts';
import { allowedRoles, type DescribedRoute, describedRoutes } from '../testing/http/routes.ts';
import { startWalk, type Walk } from '../testing/http/walk.ts';

/** Calls every route of the API without a credential and with every role. */
let walk: Walk;

beforeAll(async () => {
  walk = await startWalk();
});
afterAll(() => walk?.close());

const isPublic = ({ access }: DescribedRoute): boolean => access === 'public';
const [open, guarded] = [describedRoutes.filter(isPublic), describedRoutes.filter((route) => !isPublic(route))];

/** Calls the routes one after the other. The result names each route, so that a failure shows which of them responded differently. */
async function answersOf(routes: readonly DescribedRoute[], as?: string): Promise<Record<string, ApiAnswer>> {
  const answers: Record<string, ApiAnswer> = {};
  for (const route of routes) answers[route.operationId] = await walk.call(route, as === undefined ? {} : { as });
  return answers;
}
const resultsOf = (answers: Record<string, ApiAnswer>) =>
  Object.entries(answers).map(([operation, { status, body }]) => `${operation} ${status} ${(body as { code: string }).code}`);
const all = (routes: readonly DescribedRoute[], result: string) => routes.map(({ operationId }) => `${operationId} ${result}`);

async function expectNoChange(run: () => Promise<void>): Promise<void> {
  const before = await walk.everythingOf(walk.api.ours);
  await run();
  expect(await walk.everythingOf(walk.api.ours)).toBe(before);
}

describe.each(['without a credential', 'with an unknown key', 'with a mistyped key'])('%s', (kind) => {
  const credential = (): string | undefined => {
    const { owner } = walk.api.ours;
    const mistyped = `${owner.slice(0, -1)}${owner.endsWith('A') ? 'B' : 'A'}`;
    return { 'without a credential': undefined, 'with an unknown key': 'rrs_unknown', 'with a mistyped key': mistyped }[kind];
  };

  it('every route that is not public refuses access and changes nothing', () =>
    expectNoChange(async () => {
      const answers = await answersOf(guarded, credential());
      expect(resultsOf(answers)).toEqual(all(guarded, '401 unauthenticated'));
      for (const { headers } of Object.values(answers)) expect(headers.get('www-authenticate')).toMatch(/^Bearer realm="rrs"/);
    }));

  it('every public route responds and changes nothing', () =>
    expectNoChange(async () => {
      const answers = await answersOf(open, credential());
      for (const { operationId, path } of open) expect(path.includes('{') ? [404] : [200, 401, 404], operationId).toContain(answers[operationId]?.status);
    }));
});

describe.each(roles)('as %s', (role) => {
  const isAllowed = ({ access }: DescribedRoute): boolean => allowedRoles(access).includes(role);

  it('routes beyond the permissions of the role refuse access and change nothing', async () => {
    const [as, refused] = [await walk.api.ours.key(role), guarded.filter((route) => !isAllowed(route))];
    await expectNoChange(async () => expect(resultsOf(await answersOf(refused, as))).toEqual(all(refused, '403 forbidden')));
  });

  it('all other routes allow access', async () => {
    // The resources in the path or in the body do not exist. What matters is that access is not refused.
    for (const route of guarded.filter(isAllowed)) {
      const { status } = await walk.call(route, { as: await walk.api.ours.key(role) });
      expect(route.path.includes('{') ? [404] : [200, 201, 202, 404, 409], route.operationId).toContain(status);
    }
  });
});
