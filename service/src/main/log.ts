import { createRequire } from 'node:module';
import { pino } from 'pino';
import { loggable } from '../http/errors.ts';
import type { Config } from './config.ts';
import { readableLine } from './readable-log.ts';

export const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

const SECRETS = ['authorization', 'cookie', 'set-cookie', 'x-api-key', 'idempotency-key', 'password', 'token', 'secret', 'key', 'connectionString'];

/** Logs to stderr, because commands print their result to stdout: readable lines to a terminal, otherwise JSON, written asynchronously and flushed at exit. */
export function createLog(level: Config['LOG_LEVEL'], destination: pino.DestinationStream = standardError()) {
  // Errors can carry anything, such as the parameters of a statement.
  const serializers = { err: loggable };
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.epochTime, serializers };
  const redact = SECRETS.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]);
  return Object.assign(pino({ ...options, redact }, destination), {
    /** One line per request, without redaction: its fields cannot contain secrets, and redaction would cost a tenth of the throughput. */
    access: pino(options, destination),
  });
}

function standardError(): pino.DestinationStream {
  return process.stderr.isTTY ? { write: (line) => void process.stderr.write(readableLine(line)) } : pino.destination({ dest: 2, sync: false });
}

export type Log = ReturnType<typeof createLog>;
