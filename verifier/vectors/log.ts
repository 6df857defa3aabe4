import { type Bundle, sha256, toBase64, utf8 } from '@rrs/evidence-format';
import { testKeys } from '../src/testing/build.ts';
import { IDS } from '../src/testing/sample.ts';
import { changed, edit, failing, sealed, type Vector } from './vector.ts';

const other = await testKeys('other');

const bundle = (change: (bundle: Bundle) => void) => sealed({ bundle: change });
const entryOf = ({ verificationMaterial }: Bundle) => verificationMaterial.tlogEntries[0];

export const log: Vector[] = [
  failing(
    'an invalid leaf',
    ['inclusion', 'leaf', 'promise'],
    bundle((value) => {
      entryOf(value).canonicalizedBody = toBase64(utf8('{}'));
    }),
  ),
  failing(
    'the leaf of another package',
    ['inclusion', 'leaf_mismatch', 'promise'],
    bundle((value) => {
      const entry = entryOf(value);
      entry.canonicalizedBody = toBase64(
        utf8(
          Buffer.from(entry.canonicalizedBody, 'base64')
            .toString()
            .replace(/"value":"[0-9a-f]{64}"/, `"value":"${'0'.repeat(64)}"`),
        ),
      );
    }),
  ),
  failing(
    'a different root',
    ['checkpoint', 'consistency', 'epoch', 'inclusion'],
    bundle((value) => {
      entryOf(value).inclusionProof.rootHash = toBase64(sha256(utf8('other')));
    }),
  ),
  failing(
    'a different index',
    ['inclusion', 'promise', 'tlog_proof'],
    bundle((value) => {
      entryOf(value).logIndex = '5';
    }),
  ),
  failing(
    'a different index in the inclusion proof',
    ['inclusion'],
    bundle((value) => {
      entryOf(value).inclusionProof.logIndex = '5';
    }),
  ),
  failing(
    'a different tree size',
    ['checkpoint', 'consistency', 'epoch', 'inclusion'],
    bundle((value) => {
      entryOf(value).inclusionProof.treeSize = '8';
    }),
  ),
  failing(
    'a number that is too large',
    ['inclusion'],
    bundle((value) => {
      entryOf(value).logIndex = '9999999999999999';
    }),
  ),
  failing(
    'a changed hash in the inclusion proof',
    ['inclusion', 'tlog_proof'],
    bundle((value) => {
      entryOf(value).inclusionProof.hashes[0] = toBase64(sha256(utf8('other')));
    }),
  ),
  failing(
    'a missing hash in the inclusion proof',
    ['inclusion', 'tlog_proof'],
    bundle((value) => {
      entryOf(value).inclusionProof.hashes.pop();
    }),
  ),
  failing(
    'a different entry time',
    ['promise', 'time_mismatch'],
    bundle((value) => {
      entryOf(value).integratedTime = '1';
    }),
  ),
  failing(
    'a promise by another key',
    ['promise'],
    bundle((value) => {
      entryOf(value).inclusionPromise.signedEntryTimestamp = value.dsseEnvelope.signatures[0].sig;
    }),
  ),
  failing(
    'a different log ID',
    ['checkpoint_signature', 'epoch', 'key_copy', 'promise'],
    bundle((value) => {
      entryOf(value).logId.keyId = toBase64(sha256(other.log.spki));
    }),
  ),

  failing(
    'checkpoints with different roots',
    ['log_disagrees'],
    sealed({
      log: (parts) => {
        parts.c2sp = { ...parts.c2sp, root: sha256(utf8('other')) };
      },
    }),
  ),
  failing(
    'a bundle checkpoint of another tree',
    ['checkpoint', 'log_disagrees'],
    sealed({
      log: (parts) => {
        parts.rekor = { ...parts.rekor, size: 9 };
      },
    }),
  ),
  failing(
    'a bundle checkpoint with another origin',
    ['log_disagrees'],
    sealed({
      log: (parts) => {
        parts.rekor = { ...parts.rekor, origin: 'elsewhere.example/orgs/x - 1' };
      },
    }),
  ),
  failing(
    'the log of another organization',
    ['checkpoint', 'epoch', 'key_copy', 'log_facts', 'rendering', 'untrusted_log_key'],
    sealed({
      log: (parts) => {
        parts.rekor = { ...parts.rekor, origin: `evidence.example/orgs/${IDS.artifact} - 1` };
        parts.c2sp = { ...parts.c2sp, origin: `evidence.example/orgs/${IDS.artifact}` };
      },
    }),
  ),
  failing(
    'an edited checkpoint',
    ['checkpoint', 'checkpoint_signature', 'epoch', 'log_disagrees'],
    bundle((value) => {
      const { checkpoint } = entryOf(value).inclusionProof;
      checkpoint.envelope = checkpoint.envelope.replace('\n7\n', '\n8\n');
    }),
  ),
  failing(
    'a second signature on the checkpoint',
    ['checkpoint', 'epoch'],
    bundle((value) => {
      const { checkpoint } = entryOf(value).inclusionProof;
      checkpoint.envelope += checkpoint.envelope.split('\n').slice(-2).join('\n');
    }),
  ),
  failing(
    'a checkpoint that is not a signed note',
    ['checkpoint', 'epoch'],
    bundle((value) => {
      entryOf(value).inclusionProof.checkpoint.envelope = 'hello\n';
    }),
  ),
  failing(
    'an edited checkpoint in the tlog-proof',
    ['checkpoint_signature', 'log_disagrees'],
    changed((files) => edit(files, 'proof/package.tlog-proof', (text) => text.replace('\n7\n', '\n8\n'))),
  ),
  failing(
    'a different index in the tlog-proof',
    ['tlog_proof'],
    changed((files) => edit(files, 'proof/package.tlog-proof', (text) => text.replace('index 6', 'index 5'))),
  ),
  failing(
    'an invalid tlog-proof',
    ['tlog_proof'],
    changed((files) => files.set('proof/package.tlog-proof', utf8('hello\n'))),
  ),

  failing(
    'a broken consistency proof',
    ['consistency'],
    sealed({
      log: (parts) => {
        if ('hashes' in parts.consistency) parts.consistency.hashes[0] = sha256(utf8('other'));
      },
    }),
  ),
  failing(
    'a different earlier root',
    ['consistency'],
    sealed({
      log: (parts) => {
        if ('oldRoot' in parts.consistency) parts.consistency.oldRoot = sha256(utf8('other'));
      },
    }),
  ),
  failing(
    'an invalid consistency proof',
    ['consistency'],
    changed((files) => files.set('proof/consistency.txt', utf8('old 4'))),
  ),
];
