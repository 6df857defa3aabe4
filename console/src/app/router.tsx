import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from '@tanstack/react-router';
import { parseQuery, writeQuery } from '../lists/query.ts';
import { Failure, Loading } from '../parts/states.tsx';
import type { PageRoute } from './area.ts';
import { areas } from './areas.ts';
import { NotFound } from './not-found.tsx';
import { Shell } from './shell.tsx';

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell });

const componentOf = ({ load }: PageRoute) => lazyRouteComponent(async () => ({ default: await load() }));
const pages = areas.flatMap(({ routes }) => routes);
const inShell = pages
  .filter(({ isPublic }) => !isPublic)
  .map((page) => createRoute({ getParentRoute: () => shell, path: page.path, component: componentOf(page) }));
const alone = pages
  .filter(({ isPublic }) => isPublic)
  .map((page) => createRoute({ getParentRoute: () => root, path: page.path, component: componentOf(page) }));

export const router = createRouter({
  routeTree: root.addChildren([shell.addChildren(inShell), ...alone]),
  // The query of an address is a query of the API: names and plain values, lists with commas.
  parseSearch: parseQuery,
  stringifySearch: writeQuery,
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Loading />,
  defaultErrorComponent: ({ error, reset }) => <Failure error={error} onRetry={reset} />,
});
