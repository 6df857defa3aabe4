import { setImmediate as soon } from 'node:timers/promises';
import type { Config } from './config.ts';
import type { Log } from './log.ts';
import type { Role, Serving } from './parts.ts';
import { retryWhileStarting } from './retry.ts';
import { openServer } from './storage.ts';

export interface RunningService extends Serving {
  stop(): Promise<void>;
}

/** Starts the parts of the role in order. They are stopped in reverse order, at the end or if a later part fails to start. */
export async function startService(role: Role, config: Config, log: Log): Promise<RunningService> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of stops.splice(0).reverse()) await step().catch((error: unknown) => log.error({ err: error }, 'a part failed to stop'));
  };
  try {
    const opening = retryWhileStarting(log, () => openServer(config, log)).then((server) => {
      stops.push(() => server.stop());
      return server;
    });
    // The embedded server starts in its own process, so this process loads the rest of the program in the meantime.
    // With an external server, loading would block the event loop and could time out the connection attempt.
    const loading = (config.DATABASE_URL === null ? soon() : opening).then(() => import('./parts.ts'));
    const [server, { startParts }] = await Promise.all([opening, loading]);
    return { ...(await startParts({ role, config, log, databaseUrl: server.url, stops })), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
