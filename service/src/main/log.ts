import { createRequire } from 'node:module';
import { pino } from 'pino';
import type { Config } from './config.ts';

export const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

const SECRETS = ['authorization', 'cookie', 'password', 'token', 'secret', 'key', 'connectionString'];

/** On stderr: stdout belongs to what a command answers. */
export function createLog(level: Config['LOG_LEVEL']) {
  const redact = SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*.headers["${name}"]`]);
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact }, pino.destination({ dest: 2, sync: true }));
}

export type Log = ReturnType<typeof createLog>;
