import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roles } from '../shared/permissions.ts';
import { allowedRoles, describedRoutes } from '../testing/http/routes.ts';
import { startWalk, type Walk } from '../testing/http/walk.ts';

/** Calls every route of the API without a credential and with every role. */
let walk: Walk;

beforeAll(async () => {
  walk = await startWalk();
});
afterAll(() => walk?.close());

const named = describedRoutes.map((route) => [route.operationId, route] as const);
const isPublic = ({ access }: (typeof describedRoutes)[number]): boolean => access === 'public';

describe('without a valid credential', () => {
  it.each(named)('%s is refused unless it is public', async (_, route) => {
    const { ours } = walk.api;
    const before = await walk.everythingOf(ours);
    const wrongKey = `${ours.owner.slice(0, -1)}${ours.owner.endsWith('A') ? 'B' : 'A'}`;
    for (const as of [undefined, 'rrs_unknown', wrongKey]) {
      const { status, headers, body } = await walk.call(route, as === undefined ? {} : { as });
      if (isPublic(route)) expect(route.path.includes('{') ? [404] : [200, 401]).toContain(status);
      else {
        expect([status, (body as { code: string }).code]).toEqual([401, 'unauthenticated']);
        expect(headers.get('www-authenticate')).toMatch(/^Bearer realm="rrs"/);
      }
    }
    expect(await walk.everythingOf(ours)).toBe(before);
  });
});

describe.each(roles)('as %s', (role) => {
  it.each(named.filter(([, route]) => !isPublic(route)))('%s is allowed or refused according to its permission', async (_, route) => {
    const as = await walk.api.ours.key(role);
    const before = await walk.everythingOf(walk.api.ours);
    const { status, body } = await walk.call(route, { as });
    if (allowedRoles(route.access).includes(role)) {
      // The resources in the path or in the body do not exist. What matters is that access is not refused.
      expect(route.path.includes('{') ? [404] : [200, 201, 202, 404, 409]).toContain(status);
    } else {
      expect([status, (body as { code: string }).code]).toEqual([403, 'forbidden']);
      expect(await walk.everythingOf(walk.api.ours)).toBe(before);
    }
  });
});
