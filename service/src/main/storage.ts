import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { BlobStore } from '../blobs/blobs.ts';
import { openFileStore } from '../blobs/file-store.ts';
import { openS3Store } from '../blobs/s3-store.ts';
import { withClient } from '../db/connection/with-client.ts';
import { startEmbedded } from '../db/server/embedded.ts';
import { isUnavailable } from '../db/unavailable.ts';
import { messageOf, OperatorError } from '../shared/errors.ts';
import type { Config } from './config.ts';
import { lockDataDir, lockHolder, prepareDataDir, replaceFile } from './data-dir.ts';

export interface DatabaseServer {
  url: string;
  stop(): Promise<void>;
}

interface Log {
  warn(message: string): void;
}

const URL_FILE = 'postgres.url';
const LOCK_TIMEOUT_MS = 30_000;
const POLL_MS = 50;

/** Connects to the configured server, or starts the embedded one, which only one service can use at a time. */
export async function openServer(config: Config, log: Log): Promise<DatabaseServer> {
  prepareDataDir(config.RRS_DATA_DIR);
  if (config.DATABASE_URL !== null) return reachServer(config.DATABASE_URL);
  for (const deadline = Date.now() + LOCK_TIMEOUT_MS; ; await delay(POLL_MS)) {
    const server = await startOwnServer(config, 'service', log);
    if (server) return server;
    const { pid, kind } = lockHolder(config.RRS_DATA_DIR);
    // A command releases the lock soon.
    if (kind === 'command' && Date.now() < deadline) continue;
    throw new OperatorError(
      `Another service (process ${pid}) is using the data folder ${config.RRS_DATA_DIR}. Stop it first, or set RRS_DATA_DIR to another folder.`,
    );
  }
}

/** For commands, which may run next to the service. Uses the embedded server of the running service, or starts it for the duration of the command. */
export async function openServerForCommand(config: Config, log: Log): Promise<DatabaseServer> {
  prepareDataDir(config.RRS_DATA_DIR);
  if (config.DATABASE_URL !== null) return reachServer(config.DATABASE_URL);
  for (const deadline = Date.now() + LOCK_TIMEOUT_MS; ; await delay(POLL_MS)) {
    const server = await startOwnServer(config, 'command', log);
    if (server) return server;
    const { pid, kind } = lockHolder(config.RRS_DATA_DIR);
    // The server of another command stops with that command, so it cannot be used.
    const problem = kind === 'command' ? 'is busy' : await connectProblem(config);
    if (problem === null) return { url: serviceUrl(config), stop: async () => {} };
    if (Date.now() > deadline) throw new OperatorError(`The ${kind} (process ${pid}) on the data folder ${config.RRS_DATA_DIR} ${problem}. Retry, or stop it.`);
  }
}

function serviceUrl(config: Config): string {
  return readFileSync(join(config.RRS_DATA_DIR, URL_FILE), 'utf8').trim();
}

/** The lock is taken before the server accepts connections, so a starting service has no server yet. */
async function connectProblem(config: Config): Promise<string | null> {
  try {
    await connectOnce(serviceUrl(config));
    return null;
  } catch (error) {
    return `has a database that does not respond (${messageOf(error)})`;
  }
}

async function startOwnServer(config: Config, kind: 'service' | 'command', log: Log): Promise<DatabaseServer | null> {
  const lock = lockDataDir(config.RRS_DATA_DIR, kind);
  if (!lock) return null;
  try {
    const server = await startEmbedded(config.RRS_DATA_DIR, (line) => log.warn(line));
    replaceFile(join(config.RRS_DATA_DIR, URL_FILE), `${server.url}\n`);
    return {
      url: server.url,
      stop: async () => {
        await server.stop();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function reachServer(url: string): Promise<DatabaseServer> {
  try {
    await connectOnce(url);
  } catch (error) {
    const { host, database } = new pg.Client(url);
    const why = isUnavailable(error) ? 'Start the server or correct DATABASE_URL.' : 'Correct DATABASE_URL.';
    throw new OperatorError(`Cannot connect to the database "${database ?? ''}" at ${host} (${messageOf(error) || 'no response'}). ${why}`, { cause: error });
  }
  return { url, stop: async () => {} };
}

function connectOnce(url: string): Promise<void> {
  return withClient({ connectionString: url, connectionTimeoutMillis: 10_000 }, async () => {});
}

export function keysDir(config: Config): string {
  return config.RRS_KEYS_DIR ?? join(config.RRS_DATA_DIR, 'keys');
}

export async function openBlobs(config: Config): Promise<BlobStore> {
  if (config.RRS_S3_BUCKET === null) return openFileStore(join(config.RRS_DATA_DIR, 'blobs'));
  return openS3Store({
    bucket: config.RRS_S3_BUCKET,
    prefix: config.RRS_S3_PREFIX,
    region: config.RRS_S3_REGION,
    forcePathStyle: config.RRS_S3_PATH_STYLE === 'true',
    ...(config.RRS_S3_ENDPOINT === null ? {} : { endpoint: config.RRS_S3_ENDPOINT }),
    ...(config.RRS_S3_ACCESS_KEY_ID === null ? {} : { accessKeyId: config.RRS_S3_ACCESS_KEY_ID }),
    ...(config.RRS_S3_SECRET_ACCESS_KEY === null ? {} : { secretAccessKey: config.RRS_S3_SECRET_ACCESS_KEY }),
  });
}
