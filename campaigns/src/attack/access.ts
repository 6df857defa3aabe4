import { roles } from '../../../service/src/shared/permissions.ts';
import { allowedRoles, type DescribedRoute, describedRoutes } from '../../../service/src/testing/http/routes.ts';
import type { PathValues } from '../../../service/src/testing/http/subjects.ts';
import type { Outcome } from '../figures.ts';
import type { Target } from './target.ts';

/** Every route, or one of `every`, without a credential, with every role, and with resources of the other organization. */
export async function access({ api, walk, healthOf }: Target, { every, seed }: { every: number; seed: number }): Promise<Outcome> {
  const { ours, theirs } = api;
  const guarded = describedRoutes.filter((route, n) => route.access !== 'public' && (n + seed) % every === 0);
  const violations: string[] = [];
  let requests = 0;
  const expect = async (route: DescribedRoute, who: string, options: { as?: string; path?: PathValues }, statuses: readonly number[]): Promise<void> => {
    const { status, body } = await walk.call(route, options);
    requests++;
    if (!statuses.includes(status)) violations.push(`${route.operationId} ${who}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
    if (JSON.stringify(body ?? '').includes('of theirs')) violations.push(`${route.operationId} ${who}: the response contains data of the other organization`);
  };
  const before = await walk.everythingOf(ours);
  const unknown = `${ours.owner.slice(0, -1)}${ours.owner.endsWith('A') ? 'B' : 'A'}`;
  for (const route of guarded) {
    await expect(route, 'without a credential', {}, [401]);
    await expect(route, 'with an unknown key', { as: unknown }, [401]);
  }
  for (const role of roles) {
    const as = await ours.key(role);
    for (const route of guarded.filter((one) => !allowedRoles(one.access).includes(role))) await expect(route, `as ${role}`, { as }, [403]);
  }
  if ((await walk.everythingOf(ours)) !== before) violations.push('refused requests changed the organization');

  const foreign: [DescribedRoute, PathValues][] = [];
  for (const route of guarded.filter(({ path }) => path.includes('{') && !path.startsWith('/api/v1/me/')))
    foreign.push([route, await walk.subjectOf(route, theirs)]);
  const theirData = await walk.everythingOf(theirs);
  for (const [route, path] of foreign) {
    for (const given of [path, path.map((value) => value.toUpperCase())])
      await expect(route, "with the other organization's resource", { as: ours.owner, path: given }, [404]);
    for (const role of roles) {
      const status = allowedRoles(route.access).includes(role) ? 404 : 403;
      await expect(route, `with the other organization's resource as ${role}`, { as: await ours.key(role), path }, [status]);
    }
  }
  // Background work, such as deliveries to a receiver that does not exist, goes on.
  if (withoutDeliveries(await walk.everythingOf(theirs)) !== withoutDeliveries(theirData)) violations.push("the other organization's data changed");
  const health = healthOf('access');
  return {
    figures: [
      ['access: requests', `${requests} to ${guarded.length} of ${describedRoutes.length} routes with ${roles.length} roles and two organizations`],
      ['access: other callers', health.figure],
    ],
    violations: [...violations, ...health.violations],
  };
}

const BACKGROUND = ['webhook_deliveries', 'webhooks', 'connections', 'events', 'sync_runs', 'tickets', 'imports', 'audit_events', 'ticket_polls'];

function withoutDeliveries(everything: string): string {
  return JSON.stringify((JSON.parse(everything) as { all?: string; table: string }[]).filter(({ table }) => !BACKGROUND.includes(table)));
}
