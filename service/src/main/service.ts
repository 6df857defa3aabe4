import { setImmediate as soon } from 'node:timers/promises';
import type { Config } from './config.ts';
import type { Log } from './log.ts';
import type { Role, Serving } from './parts.ts';
import { patiently } from './patience.ts';
import { openServer } from './storage.ts';

export interface RunningService extends Serving {
  stop(): Promise<void>;
}

/** Starts what the role needs, in order; what was started is stopped again in reverse, at the end or when a later step fails. */
export async function startService(role: Role, config: Config, log: Log): Promise<RunningService> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of stops.splice(0).reverse()) await step().catch((error: unknown) => log.error({ err: error }, 'a part did not stop in order'));
  };
  try {
    const opening = patiently(log, () => openServer(config, log)).then((server) => {
      stops.push(() => server.stop());
      return server;
    });
    // Our own server comes up in a process of its own, and this one loads the rest of the program meanwhile. A connection to another would be kept waiting by that.
    const loading = (config.DATABASE_URL === null ? soon() : opening).then(() => import('./parts.ts'));
    const [server, { startParts }] = await Promise.all([opening, loading]);
    return { ...(await startParts({ role, config, log, databaseUrl: server.url, stops })), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
