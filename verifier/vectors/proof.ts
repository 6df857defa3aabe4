import { type Bundle, concat, countsOf, equalBytes, type Facts, PACKAGE_FORMATS, parseBundle, pemFromSpki, toBase64, utf8 } from '@rrs/evidence-format';
import { buildPackage, ORIGIN, type Recipe, testKeys, trustIn } from '../src/testing/build.ts';
import { IDS } from '../src/testing/sample.ts';
import { ecdsaDer } from '../src/testing/signer.ts';
import { emptyTrust } from '../src/trust/trust.ts';
import { changed, edit, failing, sealed, type Vector } from './vector.ts';

const other = await testKeys('other');
const ours = await testKeys();
const inUse = (from: string, to: string | null) => [{ key: pemFromSpki(ours.package.spki), from, to, revoked: null }];
const STATEMENT = 'proof/statement.json';
const BUNDLE = 'proof/package.sigstore.json';

const bundle = (change: (bundle: Bundle) => void) => sealed({ bundle: change });
const statement = (change: (text: string) => string): Recipe => ({ statement: change });

/** The whole package made again with other keys: consistent, but not trusted. */
const forged: Recipe = { keys: other };

const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The other valid s for the same message: not a forgery, but not the signature in the log. */
function mirrored(der: Uint8Array): Uint8Array {
  const length = der[3] ?? 0;
  const [r, s] = [der.subarray(4, 4 + length), der.subarray(6 + length)].map((bytes) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)) as [bigint, bigint];
  return ecdsaDer(r, N - s);
}

/** The first package of its work item. */
const first = (facts: Facts) => void Object.assign(facts, { sequence: 1, earlier: [] });

export const proof: Vector[] = [
  failing('a package as the first entry of its log', ['epoch', 'inclusion'], sealed({ index: 0, facts: first })),
  { name: 'good: first package of its log', verdict: 'verified', codes: [], make: sealed({ index: 1, oldSize: 0, facts: first }) },
  { name: 'good: second package of its log', verdict: 'verified', codes: [], make: sealed({ index: 2, oldSize: 2, facts: first }) },
  { name: 'good: seventh entry of its log', verdict: 'verified', codes: [], make: sealed() },
  {
    name: 'good: all formats',
    verdict: 'verified',
    codes: [],
    make: sealed({
      facts: (facts) => {
        facts.formats = [...PACKAGE_FORMATS];
      },
    }),
  },
  { name: 'good: without a report', verdict: 'verified', codes: [], make: sealed({ facts: ({ formats }) => void formats.splice(formats.indexOf('pdf'), 1) }) },
  { name: 'good: the other s of the signature', verdict: 'verified', codes: [], make: sealed({ signature: mirrored }) },
  { name: 'no keys given', verdict: 'consistent', codes: [], make: sealed({}, emptyTrust) },
  { name: 'no package key given', verdict: 'consistent', codes: [], make: sealed({}, (trust) => ({ ...trust, packageKeys: [] })) },
  { name: 'no log key given', verdict: 'consistent', codes: [], make: sealed({}, (trust) => ({ ...trust, logKeys: [] })) },
  { name: 'no checkpoint key given', verdict: 'consistent', codes: [], make: sealed({}, (trust) => ({ ...trust, noteKeys: [] })) },
  { name: 'made with other keys, none given', verdict: 'consistent', codes: [], make: sealed(forged, emptyTrust) },

  failing(
    'everything made again with other keys',
    ['untrusted_key', 'untrusted_log_key'],
    sealed(forged, () => trustIn(ours)),
  ),
  failing(
    'a better conclusion, everything made again with other keys',
    ['untrusted_key', 'untrusted_log_key'],
    sealed(
      {
        ...forged,
        evidence: (evidence) => {
          evidence.findings.pop();
          evidence.counts = countsOf(evidence.findings, evidence.counts);
        },
      },
      () => trustIn(ours),
    ),
  ),
  failing(
    'signed with another key',
    ['untrusted_key'],
    sealed({ keys: { ...ours, package: other.package } }, () => trustIn(ours)),
  ),
  failing(
    'in the log of another key',
    ['untrusted_log_key'],
    sealed({ keys: { ...ours, log: other.log } }, () => trustIn(ours)),
  ),
  failing(
    'a checkpoint by another key',
    ['untrusted_log_key'],
    sealed({ keys: { ...ours, note: other.note } }, () => trustIn(ours)),
  ),
  {
    name: 'good: made while its key was in use',
    verdict: 'verified',
    codes: [],
    make: sealed({}, (trust) => ({ ...trust, periods: inUse('2020-01-01T00:00:00Z', null) })),
  },
  failing(
    'signed with a retired key, without a timestamp',
    ['key_period'],
    sealed({}, (trust) => ({ ...trust, periods: inUse('2020-01-01T00:00:00Z', '2020-06-01T00:00:00Z') })),
  ),
  failing(
    'made before its key was in use',
    ['key_period'],
    sealed({}, (trust) => ({ ...trust, periods: inUse('2090-01-01T00:00:00Z', null) })),
  ),
  {
    name: 'good: the expected organization and log',
    verdict: 'verified',
    codes: [],
    make: sealed({}, (trust) => ({ ...trust, organization: IDS.organization, origin: ORIGIN, origins: ['other.example', 'evidence.example'] })),
  },
  failing(
    'of another organization',
    ['organization'],
    sealed({}, (trust) => ({ ...trust, organization: IDS.artifact })),
  ),
  failing(
    'in another log',
    ['origin'],
    sealed({}, (trust) => ({ ...trust, origin: `other.example/orgs/${IDS.organization}` })),
  ),
  failing(
    'in a log that the list of keys does not name',
    ['origin'],
    sealed({}, (trust) => ({ ...trust, origins: ['evidence.exam'] })),
  ),
  failing(
    'an invalid trusted key',
    ['untrusted_key'],
    sealed({}, (trust) => ({ ...trust, packageKeys: ['not a key'] })),
  ),

  failing(
    'a bundle that is not JSON',
    ['bundle'],
    changed((files) => files.set(BUNDLE, utf8('{'))),
  ),
  failing(
    'a bundle with white space',
    ['bundle'],
    changed((files) => edit(files, BUNDLE, (text) => text.replace(':', ': '))),
  ),
  failing(
    'a bundle with an unknown field',
    ['bundle'],
    bundle((value) => Object.assign(value, { extra: 1 })),
  ),
  failing(
    'a repeated signature',
    ['bundle'],
    bundle(({ dsseEnvelope }) => Object.assign(dsseEnvelope, { signatures: [dsseEnvelope.signatures[0], dsseEnvelope.signatures[0]] })),
  ),
  failing(
    'no signature',
    ['bundle'],
    bundle(({ dsseEnvelope }) => Object.assign(dsseEnvelope, { signatures: [] })),
  ),
  failing(
    'a truncated signature',
    ['leaf_mismatch', 'signature'],
    bundle(
      ({
        dsseEnvelope: {
          signatures: [first],
        },
      }) => {
        first.sig = toBase64(Buffer.from(first.sig, 'base64').subarray(0, -1));
      },
    ),
  ),
  failing('a truncated signature that is also in the log', ['signature'], sealed({ signature: (signature) => signature.slice(0, -1) })),
  failing('a signature with r = 0', ['signature'], sealed({ signature: () => ecdsaDer(0n, 1n) })),
  failing('a signature with s = order', ['signature'], sealed({ signature: () => ecdsaDer(1n, N) })),
  failing('a signature that is not in the shortest DER form', ['signature'], sealed({ signature: padded })),
  failing(
    'the other s of the signature, after sealing',
    ['leaf_mismatch'],
    bundle(
      ({
        dsseEnvelope: {
          signatures: [first],
        },
      }) => {
        first.sig = toBase64(mirrored(Buffer.from(first.sig, 'base64')));
      },
    ),
  ),
  failing(
    'the statement of another package',
    ['leaf_mismatch', 'statement_copy', 'subject'],
    spliced((mine, theirs) => ({ ...mine, ...theirs })),
  ),
  failing(
    'the signature of another package',
    ['leaf_mismatch', 'signature'],
    spliced((mine, { signatures }) => ({ ...mine, signatures })),
  ),
  failing(
    'a different key hint',
    ['key_id'],
    bundle((value) => {
      value.verificationMaterial.publicKey.hint = 'SHA256:x';
    }),
  ),
  failing(
    'a different key hint and key ID',
    ['key_id', 'leaf_mismatch'],
    bundle((value) => {
      value.verificationMaterial.publicKey.hint = 'SHA256:x';
      value.dsseEnvelope.signatures[0].keyid = 'SHA256:x';
    }),
  ),

  failing(
    'a different copy of the statement',
    ['statement_copy'],
    changed((files) => edit(files, STATEMENT, (text) => text.replace('remediated', 'risk_accepted'))),
  ),
  failing('a different predicate type', ['statement'], sealed(statement((text) => text.replace('remediation-evidence/v2', 'remediation-evidence/v1')))),
  failing('a statement with a space', ['statement'], sealed(statement((text) => text.replace(':', ': ')))),
  failing('a duplicate key in the statement', ['statement'], sealed(statement((text) => text.replace('{"_type"', '{"_type":"x","_type"')))),
  failing('a statement about another file', ['subject'], sealed(statement((text) => text.replace('"data/report.pdf"', '"data/other.pdf"')))),
  failing('a missing subject', ['subject'], sealed(statement((text) => text.replace(/,\{"digest":\{"sha256":"[0-9a-f]+"\},"name":"data\/report.pdf"\}/, '')))),
  failing('a subject with a different hash', ['subject'], sealed(statement((text) => text.replace(/"sha256":"[0-9a-f]{64}"/, `"sha256":"${'0'.repeat(64)}"`)))),
  failing(
    'a statement with a different conclusion',
    ['predicate'],
    sealed(statement((text) => text.replace('"conclusion":"remediated"', '"conclusion":"false_positive"'))),
  ),
  failing('a statement with a different sequence', ['predicate'], sealed(statement((text) => text.replace('"sequence":2', '"sequence":3')))),

  failing(
    'a different copy of the package key',
    ['key_copy'],
    changed((files) => files.set('proof/keys/package.pem', utf8(pemFromSpki(other.package.spki)))),
  ),
  failing(
    'a copy of the package key with other line endings',
    ['key_copy'],
    changed((files) => edit(files, 'proof/keys/package.pem', (text) => text.replaceAll('\n', '\r\n'))),
  ),
  failing(
    'a different copy of the log key',
    ['key_copy'],
    changed((files) => files.set('proof/keys/log.pem', utf8(pemFromSpki(other.log.spki)))),
  ),
  failing(
    'a different copy of the checkpoint key',
    ['key_copy'],
    changed((files) => files.set('proof/keys/log-note.pem', utf8(pemFromSpki(other.note.spki)))),
  ),
  failing(
    'a different verifier key',
    ['key_copy'],
    changed((files) => edit(files, 'proof/keys/log-note.vkey', (text) => text.replace('evidence', 'other'))),
  ),
  failing(
    'no copy of the package key',
    ['proof_missing'],
    changed((files) => files.delete('proof/keys/package.pem')),
  ),
  failing(
    'no bundle',
    ['proof_missing'],
    changed((files) => files.delete(BUNDLE)),
  ),
  failing(
    'no consistency proof',
    ['proof_missing'],
    changed((files) => files.delete('proof/consistency.txt')),
  ),
  failing(
    'an extra file in proof/',
    ['proof_extra'],
    changed((files) => files.set('proof/notes.txt', utf8('hello'))),
  ),
  failing(
    'a timestamp that is not in the bundle',
    ['proof_extra'],
    changed((files) => files.set('proof/timestamp.tsr', utf8('hello'))),
  ),
];

/** The same numbers with a superfluous zero before r. */
function padded(der: Uint8Array): Uint8Array {
  const length = der[3] ?? 0;
  const result = concat(Uint8Array.of(0x30, (der[1] ?? 0) + 1, 2, length + 1, 0), der.subarray(4));
  if (equalBytes(result, der)) throw new Error('nothing changed');
  return result;
}

/** A bundle with parts of the bundle of another package. */
function spliced(join: (mine: Bundle['dsseEnvelope'], theirs: Bundle['dsseEnvelope']) => Bundle['dsseEnvelope']): Vector['make'] {
  return async () => {
    const donor = await buildPackage({ evidence: (evidence) => Object.assign(evidence, { package_id: IDS.approval }) });
    const theirs = parseBundle(Buffer.from(donor.files.get(BUNDLE) ?? '').toString());
    return bundle((mine) => Object.assign(mine, { dsseEnvelope: join(mine.dsseEnvelope, theirs.dsseEnvelope) }))();
  };
}
