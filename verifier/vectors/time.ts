import { utf8 } from '@rrs/evidence-format';
import type { Code } from '../src/codes.ts';
import { type AuthorityFaults, testAuthority } from '../src/testing/authority.ts';
import { buildPackage, type Files, zipOf } from '../src/testing/build.ts';
import { p256Key } from '../src/testing/signer.ts';
import { failing, type Vector } from './vector.ts';

const good = await testAuthority();
const TOKEN = 'proof/timestamp.tsr';

interface Case {
  faults?: AuthorityFaults[];
  roots?: string[];
  tamper?(files: Files): void;
}

function stamped({ faults = [{}], roots = [good.root], tamper }: Case = {}): Vector['make'] {
  return async () => {
    const authorities = await Promise.all(faults.map(testAuthority));
    const built = await buildPackage({ stamps: authorities.map(({ stamp }) => stamp) });
    tamper?.(built.files);
    return { zip: await zipOf(built), trust: { ...built.trust, timestampRoots: roots } };
  };
}

const wrong = (name: string, faults: AuthorityFaults, codes: Code[] = ['timestamp']) => failing(name, codes, stamped({ faults: [faults] }));

export const time: Vector[] = [
  { name: 'good: stamped', verdict: 'verified', codes: [], make: stamped() },
  { name: 'good: stamped by two, one of them trusted', verdict: 'verified', codes: [], make: stamped({ faults: [{ name: 'Unknown TSA' }, {}] }) },
  { name: 'stamped, no root given', verdict: 'consistent', codes: [], make: stamped({ roots: [] }) },
  failing('stamped by an authority that is not trusted', ['untrusted_timestamp'], stamped({ faults: [{ name: 'Unknown TSA' }] })),
  failing('a root that is not allowed to sign', ['untrusted_timestamp'], async () => {
    const authority = await testAuthority({ rootIsNotAuthority: true });
    return stamped({ faults: [{ rootIsNotAuthority: true }], roots: [authority.root] })();
  }),
  wrong('a timestamp over other bytes', { imprint: 'other' }),
  wrong('a timestamp from an expired certificate', { validUntil: '2026-01-01' }),
  wrong('a certificate for another purpose', { purposes: ['codeSigning'] }),
  wrong('a certificate for time stamping and another purpose', { purposes: ['timeStamping', 'codeSigning'] }),
  wrong('an extended key usage that is not critical', { purposeNotCritical: true }),
  wrong('a token that identifies another certificate', { namesOther: true }),
  wrong('a token that signs other content', { digest: 'other' }),
  wrong('a token signed by another key', { signWith: p256Key('stranger') }),
  wrong('a rejection instead of a token', { status: 2 }),
  failing('a different timestamp file', ['timestamp_copy'], stamped({ tamper: (files) => files.set(TOKEN, utf8('other')) })),
  failing('a missing timestamp file', ['proof_missing'], stamped({ tamper: (files) => files.delete(TOKEN) })),
];
