import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { inject } from 'vitest';
import { withClient } from '../db/connection/with-client.ts';
import { type EmbeddedPostgres, startEmbedded } from '../db/server/embedded.ts';
import { errorCodeOf } from '../shared/errors.ts';

export const TEMPLATE = 'rrs_template';

/** Starts a server, of another version if its programs are given. Its folder is deleted when it stops, or when this process exits without stopping it. */
export async function startTemporaryPostgres(programs?: string): Promise<EmbeddedPostgres & { loginUrl: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'rrs-test-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const abandon = () => {
    killServer(folder);
    remove();
  };
  process.once('exit', abandon);
  try {
    // If this process runs as root, PostgreSQL runs as another user, who needs access to the folder.
    chmodSync(folder, 0o711);
    const server = await startEmbedded(folder, () => {}, programs === undefined ? undefined : { programs, isTuned: false });
    return {
      url: server.superuserUrl,
      superuserUrl: server.superuserUrl,
      loginUrl: server.url,
      stop: async () => {
        process.off('exit', abandon);
        await server.stop();
        remove();
      },
    };
  } catch (error) {
    process.off('exit', abandon);
    remove();
    throw error;
  }
}

function killServer(folder: string): void {
  try {
    process.kill(Number(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL');
  } catch {}
}

export function databaseUrl(serverUrl: string, database: string): string {
  return serverUrl.replace(/\/\w+\?/, `/${database}?`);
}

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** Creates a migrated database for one test file. With `empty` no migrations are applied. */
export async function createTestDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const serverUrl = inject('postgresUrl');
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`;
  await withClient(serverUrl, (client) => createDatabase(client, `create database ${name}${empty ? '' : ` template ${TEMPLATE}`}`));
  return {
    url: databaseUrl(serverUrl, name),
    drop: () =>
      withClient(serverUrl, async (client) => {
        await client.query(`drop database ${name} with (force)`);
      }),
  };
}

const OBJECT_IN_USE = '55006';

async function createDatabase(client: pg.Client, statement: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query(statement);
      return;
    } catch (error) {
      if (errorCodeOf(error) !== OBJECT_IN_USE || attempt === 5) throw error;
    }
  }
}
