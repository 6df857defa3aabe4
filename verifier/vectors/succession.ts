import {
  type KeySuccession,
  type NoteSignature,
  PAYLOAD_TYPE,
  pemFromSpki,
  preAuthEncoding,
  successionKeys,
  successionStatement,
  successionsText,
  toBase64,
  utf8,
} from '@rrs/evidence-format';
import { type Keys, type Recipe, testKeys, trustIn } from '../src/testing/build.ts';
import type { Trust } from '../src/trust/trust.ts';
import { failing, sealed, type Vector } from './vector.ts';

const [ours, next, third] = [await testKeys(), await testKeys('next'), await testKeys('third')];
const pems = (keys: Keys) => ({ package: pemFromSpki(keys.package.spki), log: pemFromSpki(keys.log.spki), note: pemFromSpki(keys.note.spki) });

interface Rotation {
  from: Keys;
  to: Keys;
  reason?: KeySuccession['reason'];
  signedBy?: Keys;
}

async function envelopeOf({ from, to, reason = 'scheduled', signedBy = from }: Rotation) {
  const succession: KeySuccession = { old: pems(from), new: pems(to), effective_at: '2026-01-15T00:00:00.000Z', reason };
  const statement = successionStatement(succession);
  const message = preAuthEncoding(PAYLOAD_TYPE, statement);
  const signers = [signedBy, to].flatMap((keys) => [keys.package, keys.log, keys.note]);
  const signed: NoteSignature['signature'][] = await Promise.all(signers.map((signer) => signer.sign(message)));
  const signatures = successionKeys(succession).map(({ keyId }, index) => ({ keyid: keyId, sig: toBase64(signed[index] ?? new Uint8Array()) }));
  return { payload: toBase64(statement), payloadType: PAYLOAD_TYPE, signatures } as const;
}

/** A package of the last keys in the list of rotations. */
function rotated(rotations: Rotation[], trust: () => Trust = () => trustIn(ours)): Vector['make'] {
  return async () => {
    const text = successionsText((await Promise.all(rotations.map(envelopeOf))).map((envelope) => ({ ...envelope, signatures: [...envelope.signatures] })));
    const recipe: Recipe = { keys: rotations.at(-1)?.to ?? ours, proof: (files) => void files.set('proof/succession.json', utf8(text)) };
    return sealed(recipe, trust)();
  };
}

const UNTRUSTED = ['untrusted_key', 'untrusted_log_key'] as const;
const without = (list: 'packageKeys' | 'logKeys' | 'noteKeys') => () => ({ ...trustIn(ours), [list]: trustIn(third)[list] });

export const succession: Vector[] = [
  { name: 'good: new keys that the trusted keys named', verdict: 'verified', codes: [], make: rotated([{ from: ours, to: next }]) },
  {
    name: 'good: two rotations',
    verdict: 'verified',
    codes: [],
    make: rotated([
      { from: ours, to: next },
      { from: next, to: third },
    ]),
  },
  failing('a rotation because the keys were stolen', [...UNTRUSTED], rotated([{ from: ours, to: next, reason: 'compromise' }])),
  failing('a rotation that the old keys did not sign', ['succession', ...UNTRUSTED], rotated([{ from: ours, to: next, signedBy: third }])),
  failing('a rotation of keys that are not trusted', [...UNTRUSTED], rotated([{ from: third, to: next }])),
  failing('a rotation, and another package key is trusted', [...UNTRUSTED], rotated([{ from: ours, to: next }], without('packageKeys'))),
  failing('a rotation, and another log key is trusted', [...UNTRUSTED], rotated([{ from: ours, to: next }], without('logKeys'))),
  failing('a rotation, and another checkpoint key is trusted', [...UNTRUSTED], rotated([{ from: ours, to: next }], without('noteKeys'))),
  failing('a list of rotations that is not one', ['succession'], sealed({ proof: (files) => void files.set('proof/succession.json', utf8('[]\n')) })),
  failing(
    'a rotation after the old key was retired',
    [...UNTRUSTED],
    rotated([{ from: ours, to: next }], () => ({
      ...trustIn(ours),
      periods: [{ key: pemFromSpki(ours.package.spki), from: null, to: '2025-06-01T00:00:00Z', revoked: null }],
    })),
  ),
];
