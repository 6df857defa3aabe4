import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../db/database.ts';
import { createFirstOrganization } from '../organizations/first-organization.ts';
import { isSetupKey } from '../organizations/sign-in/setup.ts';
import type { Config } from './config.ts';

interface FirstOwner {
  /** `null` if the operator set the key with RRS_BOOTSTRAP_API_KEY. */
  key: string | null;
  keyFile: string | null;
}

/** The key with which the first person becomes an owner. */
interface PendingSetup {
  /** `null` if the operator chose the first owner key, and so does not want keys in the output. */
  key: string | null;
  file: string;
}

export interface FirstStart {
  /** `null` if an organization existed already. */
  firstOwner: FirstOwner | null;
  /** `null` if the setup is done. */
  setup: PendingSetup | null;
}

/** Creates the organization "default" with its first owner key and its setup key in an empty database. */
export async function bootstrap(db: Database, config: Config): Promise<FirstStart> {
  const chosen = config.RRS_BOOTSTRAP_API_KEY;
  const keyFile = chosen === null ? join(config.RRS_DATA_DIR, 'first-owner-key') : null;
  const file = join(config.RRS_DATA_DIR, 'setup-key');
  const created = await createFirstOrganization(db, chosen, ({ owner, setup }) => {
    // Before the commit, so that a crash cannot leave a database whose only keys are lost.
    if (keyFile !== null) writeSecret(keyFile, owner);
    writeSecret(file, setup);
  });
  const pending = created?.setup ?? (await pendingKey(db, file));
  return {
    firstOwner: created && { key: chosen === null ? created.owner : null, keyFile },
    setup: pending === null ? null : { key: chosen === null ? pending : null, file },
  };
}

/** The setup key is shown until it was used. Its file is then deleted. */
async function pendingKey(db: Database, file: string): Promise<string | null> {
  const key = readIfPresent(file);
  if (key === null) return null;
  if (await isSetupKey(db, key)) return key;
  rmSync(file, { force: true });
  return null;
}

function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
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
