import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharePackage, storePackage, unknownToken } from '../testing/evidence/stored-package.ts';
import type { TestOrganization } from '../testing/http/api.ts';
import { type DescribedRoute, describedRoutes } from '../testing/http/routes.ts';
import { type PathValues, subjectKey } from '../testing/http/subjects.ts';
import { startWalk, type Walk } from '../testing/http/walk.ts';

/** Calls every route of the API with resources of another organization. */
let walk: Walk;

beforeAll(async () => {
  walk = await startWalk();
});
afterAll(() => walk?.close());

const named = describedRoutes.map((route) => [route.operationId, route] as const);
/** Public routes have other credentials than an API key: the token of a share link, or the signature of a webhook. */
/** What belongs to the caller alone has its own tests, such as `sign-in/own-sessions.db.test.ts`. */
const isOwn = (path: string): boolean => path.startsWith('/api/v1/me/');
const withSubject = named.filter(([, { path, access }]) => path.includes('{') && access !== 'public' && !isOwn(path));
const withToken = named.filter(([, { path }]) => path.includes('/shared/{token}'));
/** Groups of findings have no id. findings/counts/groups.db.test.ts compares them with the findings. */
const isGrouped = (path: string): boolean => path.endsWith('/findings/groups');
const lists = named.filter(([, { path, operation }]) => !path.includes('{') && !isGrouped(path) && operation.parameters.some(({ name }) => name === 'cursor'));

it('has a subject for every route with path parameters, and no others', () => {
  const used = new Set(withSubject.map(([, route]) => subjectKey(route, walk.subjects)));
  expect(Object.keys(walk.subjects).toSorted()).toEqual([...used].toSorted());
});

describe('a resource of another organization', () => {
  it('is neither found nor changed by any route', async () => {
    const { ours, theirs } = walk.api;
    const paths = new Map<DescribedRoute, PathValues>();
    for (const [, route] of withSubject) paths.set(route, await walk.subjectOf(route, theirs));
    const before = await walk.everythingOf(theirs);
    for (const [route, path] of paths) {
      for (const given of [path, path.map((value) => value.toUpperCase()), []]) {
        const { status, body } = await walk.call(route, { as: ours.owner, path: given });
        expect([route.operationId, status, (body as { code: string }).code]).toEqual([route.operationId, 404, 'not_found']);
      }
    }
    expect(await walk.everythingOf(theirs)).toBe(before);
  });

  it.each(withSubject)('is found by its owner through %s', async (_, route) => {
    const { theirs } = walk.api;
    const path = await walk.subjectOf(route, theirs);
    expect((await walk.call(route, { as: theirs.owner, path, owner: theirs })).status).toBeLessThan(300);
  });

  it('is not listed by any route', async () => {
    const { api, subjects } = walk;
    for (const create of Object.values(subjects)) await Promise.all([create(api.ours), create(api.theirs)]);
    for (const [, { path }] of lists) {
      const rowsOf = async ({ owner }: TestOrganization) => {
        const { status, body } = await api.call('GET', `${path}?limit=200`, { as: owner });
        expect([path, status]).toEqual([path, 200]);
        return (body as { data: { id?: string; package_id?: string }[] }).data.map(({ id, package_id, ...row }) => ({ ...row, id: id ?? package_id }));
      };
      const [ours, theirs] = [await rowsOf(api.ours), await rowsOf(api.theirs)];
      expect(Math.min(ours.length, theirs.length), path).toBeGreaterThan(0);
      const known = new Set(ours.map(({ id }) => id));
      expect(theirs.filter(({ id }) => known.has(id))).toEqual([]);
      expect(JSON.stringify(ours)).not.toContain('of theirs');
      expect(JSON.stringify(theirs)).not.toContain('of ours');
    }
  });

  it.each(withToken)('is returned by %s only for its share token', async (_, route) => {
    const { api } = walk;
    const workItem = await api.call('POST', '/api/v1/work-items', { as: api.theirs.owner, body: { title: 'shared' } });
    const stored = await storePackage(api, { orgId: api.theirs.id, workItemId: (workItem.body as { id: string }).id });
    const { token } = await sharePackage(api, api.theirs.id, stored);
    expect((await walk.call(route, { path: [token] })).status).toBe(200);
    const ofOurs = unknownToken(api.ours.id);
    const bytes = (text: string) => Buffer.from(text.slice(4), 'base64url');
    const crossed = `shr_${Buffer.concat([bytes(token).subarray(0, 32), bytes(ofOurs).subarray(32)]).toString('base64url')}`;
    for (const other of [ofOurs, crossed, token.replace('shr_', 'rrs_'), token.toLowerCase()])
      expect((await walk.call(route, { as: api.theirs.owner, path: [other] })).status).toBe(404);
  });

  it('is not reached by a count, an export or a bulk change', async () => {
    const { api, everythingOf } = walk;
    for (const { owner: as, slug } of [api.ours, api.theirs]) {
      await api.call('POST', '/api/v1/findings', { as, body: { title: 'subject', severity: 'high', asset: { type: 'host', name: `of ${slug}` } } });
    }
    const stats = async () => (await api.call('GET', '/api/v1/findings/stats', { as: api.theirs.owner })).body;
    const before = [await everythingOf(api.theirs), await stats()];
    const exported = await api.call('GET', '/api/v1/findings/export?format=ndjson', { as: api.ours.owner });
    expect(exported.body).toContain('of ours');
    expect(exported.body).not.toContain('of theirs');
    await api.call('POST', '/api/v1/findings/bulk', { as: api.ours.owner, body: { filter: { risk_min: 0 }, change: { add_tags: ['reached'] } } });
    await api.call('POST', '/api/v1/work-items', { as: api.ours.owner, body: { title: 'all of ours', filter: { risk_min: 0 } } });
    expect([await everythingOf(api.theirs), await stats()]).toEqual(before);
  });
});
