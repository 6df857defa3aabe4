import { type Bundle, concat, countsOf, equalBytes, parseBundle, pemFromSpki, toBase64, utf8 } from '@rrs/evidence-format';
import { buildPackage, type Recipe, testKeys, trustIn } from '../src/testing/build.ts';
import { IDS } from '../src/testing/sample.ts';
import { ecdsaDer } from '../src/testing/signer.ts';
import { emptyTrust } from '../src/trust/trust.ts';
import { changed, edit, failing, sealed, type Vector } from './vector.ts';

const other = await testKeys('other');
const ours = await testKeys();
const inUse = (from: string, to: string | null) => [{ key: pemFromSpki(ours.package.spki), from, to }];
const STATEMENT = 'proof/statement.json';
const BUNDLE = 'proof/package.sigstore.json';

const bundle = (change: (bundle: Bundle) => void) => sealed({ bundle: change });
const statement = (change: (text: string) => string): Recipe => ({ statement: change });

/** Everything made again with other keys: consistent, but nobody we trust. */
const forged: Recipe = { keys: other };

const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The other value of s that fits the same message: no forgery, but no longer what the log holds. */
function mirrored(der: Uint8Array): Uint8Array {
  const length = der[3] ?? 0;
  const [r, s] = [der.subarray(4, 4 + length), der.subarray(6 + length)].map((bytes) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)) as [bigint, bigint];
  return ecdsaDer(r, N - s);
}

export const proof: Vector[] = [
  { name: 'good: first entry of its log', verdict: 'verified', codes: [], make: sealed({ index: 0 }) },
  { name: 'good: second entry of its log', verdict: 'verified', codes: [], make: sealed({ index: 1, oldSize: 1 }) },
  { name: 'good: seventh entry of its log', verdict: 'verified', codes: [], make: sealed() },
  { name: 'good: without a report', verdict: 'verified', codes: [], make: sealed({ payload: (files) => void files.delete('data/report.pdf') }) },
  { name: 'good: the other s of the signature', verdict: 'verified', codes: [], make: sealed({ signature: mirrored }) },
  { name: 'no keys given', verdict: 'consistent', codes: [], make: sealed({}, emptyTrust) },
  { name: 'no key for packages given', verdict: 'consistent', codes: [], make: sealed({}, (trust) => ({ ...trust, packageKeys: [] })) },
  { name: 'no key of the log given', verdict: 'consistent', codes: [], make: sealed({}, (trust) => ({ ...trust, logKeys: [] })) },
  { name: 'no key of the checkpoints given', verdict: 'consistent', codes: [], make: sealed({}, (trust) => ({ ...trust, noteKeys: [] })) },
  { name: 'made with other keys, none given', verdict: 'consistent', codes: [], make: sealed(forged, emptyTrust) },

  failing(
    'everything made again with other keys',
    ['untrusted_key', 'untrusted_log_key'],
    sealed(forged, () => trustIn(ours)),
  ),
  failing(
    'a nicer conclusion, everything made again with other keys',
    ['untrusted_key', 'untrusted_log_key'],
    sealed(
      {
        ...forged,
        evidence: (evidence) => {
          evidence.findings.pop();
          Object.assign(evidence.counts, countsOf(evidence.findings));
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
    'made after its key was retired',
    ['key_period'],
    sealed({}, (trust) => ({ ...trust, periods: inUse('2020-01-01T00:00:00Z', '2020-06-01T00:00:00Z') })),
  ),
  failing(
    'made before its key was there',
    ['key_period'],
    sealed({}, (trust) => ({ ...trust, periods: inUse('2090-01-01T00:00:00Z', null) })),
  ),
  failing(
    'a key given that is none',
    ['untrusted_key'],
    sealed({}, (trust) => ({ ...trust, packageKeys: ['not a key'] })),
  ),

  failing(
    'the bundle is no JSON',
    ['bundle'],
    changed((files) => files.set(BUNDLE, utf8('{'))),
  ),
  failing(
    'the bundle has a space',
    ['bundle'],
    changed((files) => edit(files, BUNDLE, (text) => text.replace(':', ': '))),
  ),
  failing(
    'the bundle has an unknown field',
    ['bundle'],
    bundle((value) => Object.assign(value, { extra: 1 })),
  ),
  failing(
    'the signature repeated',
    ['bundle'],
    bundle(({ dsseEnvelope }) => Object.assign(dsseEnvelope, { signatures: [dsseEnvelope.signatures[0], dsseEnvelope.signatures[0]] })),
  ),
  failing(
    'no signature',
    ['bundle'],
    bundle(({ dsseEnvelope }) => Object.assign(dsseEnvelope, { signatures: [] })),
  ),
  failing(
    'the signature cut',
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
  failing('the signature cut, and put into the log so', ['signature'], sealed({ signature: (signature) => signature.slice(0, -1) })),
  failing('a signature with r = 0', ['signature'], sealed({ signature: () => ecdsaDer(0n, 1n) })),
  failing('a signature with s = order', ['signature'], sealed({ signature: () => ecdsaDer(1n, N) })),
  failing('a signature in longer DER', ['signature'], sealed({ signature: longer })),
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
    ['leaf_mismatch', 'predicate', 'statement_copy', 'subject'],
    spliced((mine, theirs) => ({ ...mine, ...theirs })),
  ),
  failing(
    'the signature of another package',
    ['leaf_mismatch', 'signature'],
    spliced((mine, { signatures }) => ({ ...mine, signatures })),
  ),
  failing(
    'another key name',
    ['key_id'],
    bundle((value) => {
      value.verificationMaterial.publicKey.hint = 'SHA256:x';
    }),
  ),
  failing(
    'another key name in both places',
    ['key_id', 'leaf_mismatch'],
    bundle((value) => {
      value.verificationMaterial.publicKey.hint = 'SHA256:x';
      value.dsseEnvelope.signatures[0].keyid = 'SHA256:x';
    }),
  ),

  failing(
    'the statement copy differs',
    ['statement_copy'],
    changed((files) => edit(files, STATEMENT, (text) => text.replace('remediated', 'risk_accepted'))),
  ),
  failing('another predicate type', ['statement'], sealed(statement((text) => text.replace('remediation-evidence/v1', 'remediation-evidence/v2')))),
  failing('a statement with a space', ['statement'], sealed(statement((text) => text.replace(':', ': ')))),
  failing('a key twice in the statement', ['statement'], sealed(statement((text) => text.replace('{"_type"', '{"_type":"x","_type"')))),
  failing('the statement is about another file', ['subject'], sealed(statement((text) => text.replace('"data/report.pdf"', '"data/other.pdf"')))),
  failing('a subject left out', ['subject'], sealed(statement((text) => text.replace(/,\{"digest":\{"sha256":"[0-9a-f]+"\},"name":"data\/report.pdf"\}/, '')))),
  failing('a subject of another hash', ['subject'], sealed(statement((text) => text.replace(/"sha256":"[0-9a-f]{64}"/, `"sha256":"${'0'.repeat(64)}"`)))),
  failing(
    'the statement concludes otherwise',
    ['predicate'],
    sealed(statement((text) => text.replace('"conclusion":"remediated"', '"conclusion":"false_positive"'))),
  ),
  failing('the statement is of another number', ['predicate'], sealed(statement((text) => text.replace('"sequence":2', '"sequence":3')))),

  failing(
    'the copy of the key differs',
    ['key_copy'],
    changed((files) => files.set('proof/keys/package.pem', utf8(pemFromSpki(other.package.spki)))),
  ),
  failing(
    'the copy of the key with other line ends',
    ['key_copy'],
    changed((files) => edit(files, 'proof/keys/package.pem', (text) => text.replaceAll('\n', '\r\n'))),
  ),
  failing(
    "the copy of the log's key differs",
    ['key_copy'],
    changed((files) => files.set('proof/keys/log.pem', utf8(pemFromSpki(other.log.spki)))),
  ),
  failing(
    "the copy of the checkpoints' key differs",
    ['key_copy'],
    changed((files) => files.set('proof/keys/log-note.pem', utf8(pemFromSpki(other.note.spki)))),
  ),
  failing(
    'the verifier key differs',
    ['key_copy'],
    changed((files) => edit(files, 'proof/keys/log-note.vkey', (text) => text.replace('evidence', 'other'))),
  ),
  failing(
    'no copy of the key',
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
    'a timestamp that the bundle does not have',
    ['proof_extra'],
    changed((files) => files.set('proof/timestamp.tsr', utf8('hello'))),
  ),
];

/** The same numbers with a needless zero before r. */
function longer(der: Uint8Array): Uint8Array {
  const length = der[3] ?? 0;
  const result = concat(Uint8Array.of(0x30, (der[1] ?? 0) + 1, 2, length + 1, 0), der.subarray(4));
  if (equalBytes(result, der)) throw new Error('nothing changed');
  return result;
}

/** A bundle with parts of that of another package. */
function spliced(join: (mine: Bundle['dsseEnvelope'], theirs: Bundle['dsseEnvelope']) => Bundle['dsseEnvelope']): Vector['make'] {
  return async () => {
    const donor = await buildPackage({ evidence: (evidence) => Object.assign(evidence, { package_id: IDS.approval }) });
    const theirs = parseBundle(Buffer.from(donor.files.get(BUNDLE) ?? '').toString());
    return bundle((mine) => Object.assign(mine, { dsseEnvelope: join(mine.dsseEnvelope, theirs.dsseEnvelope) }))();
  };
}
