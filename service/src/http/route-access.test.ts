import { describe, expect, it } from 'vitest';
import { operations } from '../testing/http/description.ts';
import { allowedRoles, describedRoutes, routes } from '../testing/http/routes.ts';

describe('the routes', () => {
  it('may be called by the roles in route-access.txt', async () => {
    const who = { public: 'everyone', authenticated: 'every role' } as Record<string, string>;
    const lines = describedRoutes.map(({ method, path, access }) => `${method.padEnd(6)} ${path.padEnd(75)} ${who[access] ?? allowedRoles(access).join(', ')}`);
    // A change of this file changes who may do what. Review it like a change of permissions.
    await expect(`${lines.toSorted().join('\n')}\n`).toMatchFileSnapshot('./route-access.txt');
  });

  it('are all described, and all descriptions have a route', () => {
    const described = describedRoutes.map(({ method, path }) => `${method} ${path}`).toSorted();
    expect(described).toEqual(operations.map(({ method, path }) => `${method} ${path}`).toSorted());
  });

  it('are described as public if and only if they need no credential', () => {
    for (const { operationId, access, operation } of describedRoutes) {
      expect.soft(operation.security, operationId).toEqual(access === 'public' ? [] : undefined);
    }
  });

  it('are hidden only if they are public pages or tools', () => {
    const hidden = routes.filter((route) => route.hidden);
    expect(hidden.map(({ path }) => path).sort()).toEqual([
      '/',
      '/*',
      '/.well-known/evidence/jwks.json',
      '/.well-known/evidence/keys/{file}',
      '/docs',
      '/docs/',
      '/docs/js/scalar.js',
      '/favicon.ico',
      '/favicon.svg',
      '/files/{file}',
      '/healthz',
      '/metrics',
      '/problems/{code}',
      '/readyz',
      '/shared/{token}',
      '/theme.js',
    ]);
    expect(new Set(hidden.map((route) => route.access))).toEqual(new Set(['public']));
  });
});
