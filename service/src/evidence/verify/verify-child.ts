import { type Trust, verifyPackage } from '@rrs/verifier';
import { nodePlatform } from '@rrs/verifier/node';
import { serveTasks } from '../../jobs/children/serve-tasks.ts';

export interface VerifyTask {
  size: number;
  trust: Trust;
}

export interface ReadQuestion {
  offset: number;
  length: number;
}

/** Started by verify-in-child.ts, which reads the package for it. */
serveTasks((task, ask) => {
  const { size, trust } = task as VerifyTask;
  const read = async (offset: number, length: number): Promise<Uint8Array> => (await ask({ offset, length } satisfies ReadQuestion)) as Uint8Array;
  return verifyPackage({ size, read }, trust, nodePlatform());
});
