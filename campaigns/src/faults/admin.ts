import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { until } from '../processes.ts';

const POLL_MS = 20;
const RETRY_SECONDS = 60;

/** A service may be ready before it notices that its database was killed, which then restarts while it is used. */
export async function retried(work: () => Promise<void>): Promise<void> {
  let last: unknown;
  const succeeds = (): Promise<boolean> =>
    work().then(
      () => true,
      (error: unknown) => {
        last = error;
        return false;
      },
    );
  await until('the database answers', RETRY_SECONDS, succeeds, POLL_MS).catch(() => {
    throw last;
  });
}

export function withAdmin(dataDir: string, work: (admin: pg.Client) => Promise<void>): Promise<void> {
  return retried(async () => {
    const url = readFileSync(join(dataDir, 'postgres.url'), 'utf8').trim();
    const admin = new pg.Client({ connectionString: url.replace('//rrs_login@', '//rrs_admin@'), options: '-c search_path=rrs' });
    admin.on('error', () => {});
    await admin.connect();
    try {
      await work(admin);
    } finally {
      await admin.end();
    }
  });
}
