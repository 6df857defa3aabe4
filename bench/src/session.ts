import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { type Server, start, temporaryFolder } from './processes.ts';

/** A running service, its owner key, and a connection to its database. */
export interface Session {
  service: Server;
  folder: string;
  headers: { authorization: string };
  databaseUrl: string;
  admin: pg.Client;
}

export async function withService<T>(work: (session: Session) => Promise<T>, settings: Record<string, string> = {}): Promise<T> {
  const folder = temporaryFolder();
  try {
    const service = await start('service', { RRS_DATA_DIR: folder.path, RRS_RATE_LIMIT: '0', ...settings });
    const databaseUrl = readFileSync(join(folder.path, 'postgres.url'), 'utf8').trim();
    // The superuser of the embedded server can vacuum and copy all tables.
    const admin = new pg.Client({ connectionString: databaseUrl.replace('//rrs_login@', '//rrs_admin@'), options: '-c search_path=rrs' });
    try {
      await admin.connect();
      const key = readFileSync(join(folder.path, 'first-owner-key'), 'utf8').trim();
      return await work({ service, folder: folder.path, headers: { authorization: `Bearer ${key}` }, databaseUrl, admin });
    } finally {
      await admin.end();
      await service.stop();
    }
  } finally {
    folder.remove();
  }
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
