import { chownSync, readFileSync } from 'node:fs';
import type { Options } from './service.ts';

export const root = process.getuid?.() === 0;

/** Where the tests run as root: somebody who is not; elsewhere the tests are that case already. */
export function ordinaryUser(): Pick<Options, 'uid' | 'gid'> {
  if (!root) return {};
  const [, , uid, gid] =
    readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .find(([name]) => name === 'nobody') ?? [];
  if (uid === undefined) throw new Error('this machine has no user "nobody" to run the program as');
  return { uid: Number(uid), gid: Number(gid) };
}

/** Gives the folder to the user, where we may. */
export function own(folder: string, uid: number | undefined, gid: number | undefined): string {
  if (root && uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return folder;
}
