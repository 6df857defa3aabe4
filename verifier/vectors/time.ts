import { pemFromSpki, utf8 } from '@rrs/evidence-format';
import type { Code } from '../src/codes.ts';
import { type AuthorityFaults, testAuthority } from '../src/testing/authority.ts';
import { buildPackage, type Files, type Keys, type Recipe, testKeys, zipOf } from '../src/testing/build.ts';
import { p256Key } from '../src/testing/signer.ts';
import type { Trust } from '../src/trust/trust.ts';
import { failing, sealed, type Vector } from './vector.ts';

const good = await testAuthority();
const ours = await testKeys();
const TOKEN = 'proof/timestamp.tsr';

interface Case {
  faults?: AuthorityFaults[];
  roots?: string[];
  tamper?(files: Files): void;
  recipe?: Recipe;
  /** Period of use of one of the keys. */
  period?: Partial<Trust['periods'][number]> & { use: keyof Keys };
}

function stamped({ faults = [{}], roots = [good.root], tamper, recipe, period }: Case = {}): Vector['make'] {
  return async () => {
    const authorities = await Promise.all(faults.map(testAuthority));
    const built = await buildPackage({ ...recipe, stamps: authorities.map(({ stamp }) => stamp) });
    const periods = period ? [{ key: pemFromSpki(ours[period.use].spki), from: null, to: null, revoked: null, ...period }] : [];
    tamper?.(built.files);
    return { zip: await zipOf(built), trust: { ...built.trust, timestampRoots: roots, periods } };
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

  ...(['2026-03-04T05:01:08', '2026-03-04T06:06:07'] as const).map((at) => ({
    name: `good: stamped at ${at}`,
    verdict: 'verified' as const,
    codes: [],
    make: stamped({ faults: [{ at }] }),
  })),
  wrong('stamped before it was made', { at: '2026-03-04T05:01:06' }, ['time_mismatch']),
  wrong('stamped an hour after it was made', { at: '2026-03-04T06:06:08' }, ['time_mismatch']),
  { name: 'good: stamped again years later', verdict: 'verified', codes: [], make: stamped({ faults: [{}, { at: '2030-01-01T00:00:00' }] }) },
  failing('stamped in the future', ['time_mismatch'], async () => ({ ...(await stamped()()), options: { now: Date.parse('2026-03-04T05:01:30Z') } })),
  failing('made in the future', ['time_mismatch'], async () => ({ ...(await sealed()()), options: { now: Date.parse('2026-03-04T05:01:00Z') } })),
  failing(
    'a time in the log that is far from the timestamp',
    ['time_mismatch'],
    stamped({ recipe: { log: (parts) => void Object.assign(parts, { integratedTime: 1_000_000_000 }) } }),
  ),
  failing(
    'a time in the log that is far from generated_at, without a timestamp',
    ['time_mismatch'],
    sealed({ log: (parts) => void Object.assign(parts, { integratedTime: 1_000_000_000 }) }),
  ),
  {
    name: 'good: stamped before its key was replaced',
    verdict: 'verified',
    codes: [],
    make: stamped({ period: { use: 'package', from: '2026-01-01T00:00:00Z', to: '2026-03-04T05:08:00Z' } }),
  },
  ...(['package', 'log', 'note'] as const).flatMap((use) => [
    failing(`stamped after its ${use} key was replaced`, ['key_period'], stamped({ period: { use, to: '2026-03-04T05:06:30Z' } })),
    failing(`stamped after its ${use} key was revoked`, ['key_period'], stamped({ period: { use, revoked: '2026-03-04T05:06:30Z' } })),
  ]),
  failing('stamped before its key was in use', ['key_period'], stamped({ period: { use: 'package', from: '2026-03-05T00:00:00Z' } })),
  failing(
    'a replaced key and a timestamp whose authority is unknown',
    ['key_period'],
    stamped({ roots: [], period: { use: 'package', to: '2026-03-04T05:08:00Z' } }),
  ),
  failing('a missing timestamp file', ['proof_missing'], stamped({ tamper: (files) => files.delete(TOKEN) })),
];
