import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../db/database.ts';
import { createFirstOrganization } from '../organizations/first-organization.ts';
import type { Config } from './config.ts';

export interface FirstOwner {
  /** `null` when the operator chose the key and so knows it. */
  key: string | null;
  keyFile: string | null;
}

/** On an empty database: the organization "default" and its first owner key. `null`: it is there already, or another process makes it now. */
export async function bootstrap(db: Database, config: Config): Promise<FirstOwner | null> {
  const chosen = config.RRS_BOOTSTRAP_API_KEY;
  const keyFile = chosen === null ? join(config.RRS_DATA_DIR, 'first-owner-key') : null;
  const key = await createFirstOrganization(db, chosen, (token) => {
    // Before the commit: a crash must not leave a database with a key that nobody ever saw.
    if (keyFile !== null) writeSecret(keyFile, token);
  });
  return key === null ? null : { key: chosen === null ? key : null, keyFile };
}

function writeSecret(path: string, secret: string): void {
  const fd = openSync(path, 'w', 0o600);
  try {
    writeSync(fd, `${secret}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
