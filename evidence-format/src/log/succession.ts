import { fromBase64, toBase64, toHex } from '../bytes/bytes.ts';
import { assertFormat } from '../bytes/errors.ts';
import { canonicalJson } from '../json/jcs.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import { constant, list, name, object, text } from '../json/typed-schema.ts';
import { validate } from '../json/validate.ts';
import { type Envelope, PAYLOAD_TYPE } from '../signing/dsse.ts';
import { logId, opensshFingerprint, spkiFromPem } from '../signing/keys.ts';
import { type KeySuccession, parseSuccessionStatement } from './statements.ts';

/** A DSSE envelope with a signature of each old and each new key, in the order of `successionKeys`. */
export interface SuccessionEnvelope {
  payload: string;
  payloadType: typeof PAYLOAD_TYPE;
  signatures: Envelope['signatures'][0][];
}

export interface SuccessionKey {
  keyId: string;
  kind: 'p256' | 'ed25519';
  spki: Uint8Array;
}

const KINDS = { package: 'p256', log: 'p256', note: 'ed25519' } as const;

/** The keys that sign a succession, in order: package, log and checkpoint key, first the old ones and then the new ones. */
export function successionKeys(succession: Pick<KeySuccession, 'old' | 'new'>): SuccessionKey[] {
  return [succession.old, succession.new].flatMap((keys) =>
    (['package', 'log', 'note'] as const).map((use) => {
      const spki = spkiFromPem(keys[use]);
      return { keyId: use === 'package' ? opensshFingerprint(spki) : toHex(logId(spki)), kind: KINDS[use], spki };
    }),
  );
}

/** The envelope that is logged: only the old package key signs it, as tools for Rekor expect. */
export function loggedSuccession({ payload, payloadType, signatures: [first] }: SuccessionEnvelope): Envelope {
  assertFormat(first !== undefined, 'a succession must be signed');
  return { payload, payloadType, signatures: [first] };
}

const base64 = text(/^[A-Za-z0-9+/]+={0,2}$/);
const schema = list(
  object<SuccessionEnvelope>({
    payload: base64,
    payloadType: constant(PAYLOAD_TYPE),
    signatures: list(object<Envelope['signatures'][0]>({ keyid: name, sig: base64 })),
  }),
);

/** Content of proof/succession.json: every rotation that the old keys signed, oldest first. */
export function successionsText(envelopes: readonly SuccessionEnvelope[]): string {
  return `${canonicalJson(envelopes)}\n`;
}

export function parseSuccessions(json: string): { envelope: SuccessionEnvelope; succession: KeySuccession }[] {
  const value = parseStrictJson(json);
  const [fault] = validate(schema, value);
  assertFormat(fault === undefined, `the list of rotations${fault?.path === '' ? '' : ` field ${fault?.path}`} ${fault?.message}`);
  const envelopes = value as SuccessionEnvelope[];
  assertFormat(envelopes.length > 0 && successionsText(envelopes) === json, 'the list of rotations is not in its exact form');
  return envelopes.map((envelope) => {
    const payload = fromBase64(envelope.payload);
    assertFormat(toBase64(payload) === envelope.payload, 'not valid base64');
    return { envelope, succession: parseSuccessionStatement(payload) };
  });
}
