import { chownSync, readFileSync } from 'node:fs';
import type { Options } from './service.ts';

export const isRoot = process.getuid?.() === 0;

/** The user "nobody" when the tests run as root. Otherwise the tests already run as an unprivileged user. */
export function unprivilegedUser(): Pick<Options, 'uid' | 'gid'> {
  if (!isRoot) return {};
  const [, , uid, gid] =
    readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .find(([name]) => name === 'nobody') ?? [];
  if (uid === undefined) throw new Error('this machine has no user "nobody"');
  return { uid: Number(uid), gid: Number(gid) };
}

/** Only root can change the owner. Otherwise the folder already belongs to the user. */
export function changeOwner(folder: string, uid: number | undefined, gid: number | undefined): string {
  if (isRoot && uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return folder;
}
