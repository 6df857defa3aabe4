import { type App, type AppOptions, createApp } from '../../http/app.ts';
import { createLog } from '../../main/log.ts';
import { newId } from '../../shared/ids.ts';
import type { Role } from '../../shared/permissions.ts';

const testOrganization = { id: newId(), slug: 'test', name: 'Test' };

/** Starts only the HTTP layer, with the routes of the test and without a database. The token `<name>:<role>` authenticates a caller with that name and role. */
export async function startApp(routes: (app: App) => void, overrides: Partial<AppOptions> = {}) {
  const address = { url: 'http://127.0.0.1' };
  const log = createLog('silent');
  const app = await createApp({
    logger: log,
    accessLog: log.access,
    authenticate: async ({ token }, { id, ip }) => {
      const [name = '', role] = token.split(':');
      if (role === undefined) return null;
      const credential = { type: 'api_key', id: name, name, role: role as Role, memberId: null, person: { id: name, name } } as const;
      return { actor: { orgId: testOrganization.id, ...credential, requestId: id, address: ip }, organization: testOrganization, email: null, expiresAt: null };
    },
    clock: { now: () => Date.now() },
    bodyLimit: 1_048_576,
    requestTimeoutMs: 60_000,
    rateLimit: { perMinute: 0, burst: 1 },
    trustedProxies: [],
    corsOrigins: [],
    publicUrl: () => address.url,
    ...overrides,
  });
  routes(app);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const bound = app.server.address();
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0;
  address.url = `http://127.0.0.1:${port}`;
  return { app, port, url: address.url };
}
