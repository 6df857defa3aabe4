import { assembleApi } from '../../main/description/describe-api.ts';
import { type Access, type Role, roles, rolesWith } from '../../shared/permissions.ts';
import { type Operation, operations } from './description.ts';

interface Route {
  method: string;
  /** As published, like `/api/v1/members/{id}`. */
  path: string;
  access: Access;
  hidden: boolean;
  operationId: string | undefined;
}

export interface DescribedRoute extends Route {
  operationId: string;
  operation: Operation;
}

/** All routes of the API, as it registers them. */
async function discoverRoutes(): Promise<Route[]> {
  const routes: Route[] = [];
  const app = await assembleApi(async (api) => {
    api.addHook('onRoute', ({ method, url, config, schema }) => {
      if (config?.access === undefined) throw new Error(`the route ${url} declares no access`);
      const path = url.replaceAll(/:(\w+)/g, '{$1}');
      const { operationId, hide } = (schema ?? {}) as { operationId?: string; hide?: boolean };
      for (const each of [method].flat()) if (each !== 'HEAD') routes.push({ method: each, path, access: config.access, hidden: hide === true, operationId });
    });
  });
  await app.close();
  return routes;
}

export const routes: readonly Route[] = await discoverRoutes();

/** Published routes with their description, from which valid requests are built. */
export const describedRoutes: readonly DescribedRoute[] = routes
  .filter(({ hidden }) => !hidden)
  .map((route) => {
    const operation = operations.find(({ method, path }) => method === route.method && path === route.path);
    if (!operation) throw new Error(`service/openapi.json lacks ${route.method} ${route.path}: run \`npm run openapi:generate\``);
    return { ...route, operationId: operation.operationId, operation };
  });

/** The roles that may call a route. */
export function allowedRoles(access: Access): readonly Role[] {
  return access === 'public' || access === 'authenticated' ? roles : rolesWith(access);
}
