import { type Trust, verifyPackage } from '@rrs/verifier';
import { nodePlatform } from '@rrs/verifier/node';
import { serveThread } from '../../jobs/serve-thread.ts';

export interface VerifyInput {
  size: number;
  trust: Trust;
}

export interface ReadQuestion {
  offset: number;
  length: number;
}

/** Started by verify-in-thread.ts, which reads the package for it. */
await serveThread((input, ask) => {
  const { size, trust } = input as VerifyInput;
  const read = async (offset: number, length: number) => (await ask({ offset, length } satisfies ReadQuestion)) as Uint8Array;
  return verifyPackage({ size, read }, trust, nodePlatform());
});
