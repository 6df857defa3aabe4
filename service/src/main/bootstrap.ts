import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../db/database.ts';
import { createFirstOrganization } from '../organizations/first-organization.ts';
import type { Config } from './config.ts';

export interface FirstOwner {
  /** `null` if the operator set the key with RRS_BOOTSTRAP_API_KEY. */
  key: string | null;
  keyFile: string | null;
}

/** Creates the organization "default" and its first owner key in an empty database. Returns `null` if an organization exists already. */
export async function bootstrap(db: Database, config: Config): Promise<FirstOwner | null> {
  const chosen = config.RRS_BOOTSTRAP_API_KEY;
  const keyFile = chosen === null ? join(config.RRS_DATA_DIR, 'first-owner-key') : null;
  const key = await createFirstOrganization(db, chosen, (token) => {
    // Before the commit, so that a crash cannot leave a database whose only key is lost.
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
