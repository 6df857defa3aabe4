import { type Database, openDatabase } from '../db/database.ts';
import { instanceSecret } from '../db/instance-secret.ts';
import { migrate } from '../db/migrate.ts';
import type { App } from '../http/app.ts';
import { createMetrics } from '../http/operations.ts';
import { startWorker } from '../jobs/worker.ts';
import { createKeyUse } from '../organizations/key-use.ts';
import { errorCodeOf, messageOf, OperatorError } from '../shared/errors.ts';
import { createApi, createWorkerHttp } from './api.ts';
import { bootstrap, type FirstOwner } from './bootstrap.ts';
import type { Config } from './config.ts';
import { housekeeping } from './housekeeping.ts';
import type { Log } from './log.ts';
import { openBlobs, openServer } from './storage.ts';

/** `start` is both of the others in one process. */
export type Role = 'start' | 'api' | 'worker';

export interface RunningService {
  url: string | null;
  firstOwner: FirstOwner | null;
  stop(): Promise<void>;
}

/** Starts what the role needs, in order; what was started is stopped again in reverse, at the end or when a later step fails. */
export async function startService(role: Role, config: Config, log: Log): Promise<RunningService> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of stops.splice(0).reverse()) await step().catch((error: unknown) => log.error({ err: error }, 'a part did not stop in order'));
  };
  try {
    const server = await openServer(config, log);
    stops.push(() => server.stop());
    const { applied } = await migrate(server.url);
    const db = openDatabase({ url: server.url, poolSize: config.RRS_DATABASE_POOL });
    stops.push(() => db.close());
    await assertRoles(db);
    await (await openBlobs(config)).check();

    const metrics = createMetrics(db);
    if (role !== 'api') {
      const worker = await startWorker({
        url: server.url,
        db,
        handlers: [housekeeping],
        concurrency: config.RRS_WORKER_CONCURRENCY,
        log,
        onFinished: (job, outcome, seconds) => metrics.jobs.observe({ job, outcome }, seconds),
      });
      stops.push(() => worker.stop());
    }

    const address = { url: config.RRS_PUBLIC_URL ?? `http://${hostInUrl(config.HOST)}:${config.PORT}` };
    const publicUrl = (): string => address.url;
    const operations = { db, metrics, schemaVersion: applied, needsWorker: role !== 'api' };
    if (role === 'worker') {
      if (config.RRS_WORKER_PORT === null) return { url: null, firstOwner: null, stop };
      const app = await createWorkerHttp(log, publicUrl, operations);
      stops.push(() => app.close());
      return { url: await listen(app, config.HOST, config.RRS_WORKER_PORT), firstOwner: null, stop };
    }

    const keyUse = createKeyUse(db, (error) => log.warn({ error: messageOf(error) }, 'the last use of keys was not written'));
    stops.push(() => keyUse.close());
    const app = await createApi({ config, db, log, secret: await instanceSecret(db, 'signing'), keyUse, publicUrl, operations });
    stops.push(() => app.close());
    const url = await listen(app, config.HOST, config.PORT);
    address.url = config.RRS_PUBLIC_URL ?? url;
    return { url: address.url, firstOwner: await bootstrap(db, config), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A pooler between us and the server may drop the settings of a connection; without the roles nothing would keep tenants apart. */
async function assertRoles(db: Database): Promise<void> {
  const [row] = await db.systemQuery<{ role: string }>('current_role', 'select current_user as role', []);
  if (row?.role !== 'rrs_system') {
    throw new OperatorError('The database connection does not keep its role. If DATABASE_URL points to a connection pooler, point it to the server itself.');
  }
}

async function listen(app: App, host: string, port: number): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'EADDRINUSE')
      throw new OperatorError(`Port ${port} on ${host} is taken by another program. Stop it, or set PORT to another port.`, { cause: error });
    if (code === 'EACCES') throw new OperatorError(`Port ${port} may not be opened by this user. Set PORT to a port above 1023.`, { cause: error });
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') throw new OperatorError(`This machine has no address ${host}. Correct HOST.`, { cause: error });
    throw error;
  }
  const address = app.server.address();
  return `http://${hostInUrl(host)}:${address !== null && typeof address === 'object' ? address.port : port}`;
}

function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
