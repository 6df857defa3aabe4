import { readConfig } from '../../../service/src/main/config.ts';
import { createLog } from '../../../service/src/main/log.ts';
import { startParts } from '../../../service/src/main/parts.ts';
import { openServer } from '../../../service/src/main/storage.ts';
import { type MovedClock, moveClock } from './clock.ts';

export interface PastService {
  url: string;
  /** The first owner key. */
  key: string;
  clock: MovedClock;
  stop(): Promise<void>;
}

/** Starts the service in this process on an empty data folder, at a time in the past. */
export async function startInThePast(settings: Readonly<Record<string, string>>, time: Date): Promise<PastService> {
  const { config } = readConfig({ ...settings, LOG_LEVEL: 'error', RRS_RATE_LIMIT: '0', RRS_SESSION_HOURS: '720' });
  const log = createLog(config.LOG_LEVEL);
  const server = await openServer(config, log);
  const stops: (() => Promise<unknown>)[] = [];
  let clock: MovedClock | null = null;
  const stop = async (): Promise<void> => {
    for (const step of stops.splice(0).reverse()) await step();
    await clock?.restore();
    await server.stop();
  };
  try {
    clock = await moveClock(server.url.replace('//rrs_login@', '//rrs_admin@'));
    await clock.moveTo(time);
    const { url, firstOwner } = await startParts({ role: 'start', config, log, databaseUrl: server.url, stops, clockMoved: true });
    if (url === null || firstOwner?.key == null) throw new Error(`the data folder ${config.RRS_DATA_DIR} is not empty`);
    return { url, key: firstOwner.key, clock, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
