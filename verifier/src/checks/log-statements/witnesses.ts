import { type Cosignature, cosignatureMessage, equalBytes, spkiFromEd25519Raw, type WitnessKey, witnessKeyId } from '@rrs/evidence-format';
import { verifyEd25519 } from '../../crypto/signatures.ts';
import type { WitnessSummary } from '../../report.ts';
import type { CosignedCheckpoint } from '../checkpoints.ts';
import type { CheckContext } from '../context.ts';
import { PROOF } from '../proof-files.ts';

const TOLERANCE_MS = 300_000;

/** Checks the cosignatures of the witnesses that the caller trusts. At least one of them must have confirmed the checkpoint. */
export async function checkWitnesses(context: CheckContext, signed: CosignedCheckpoint, generatedAt: string): Promise<WitnessSummary[]> {
  const { trust, recorder, now } = context;
  const found: WitnessSummary[] = [];
  for (const cosignature of signed.cosignatures) {
    const key = trust.witnessKeys.find((witness) => isKeyOf(witness, cosignature)) ?? null;
    const fail = (detail: string): void => recorder.fail('cosignature', PROOF.tlogProof, { detail, actual: cosignature.name });
    if (key !== null && !(await isValid(context, key, { signed, cosignature }))) fail('The signature of the witness is not valid for this checkpoint.');
    const time = cosignature.time * 1000;
    if (key !== null && (time > now + TOLERANCE_MS || time < Date.parse(generatedAt) - TOLERANCE_MS))
      fail('The witness signed in the future or before the package was made.');
    found.push({ name: cosignature.name, time: timeText(time), trusted: key !== null });
  }
  for (const { name } of trust.witnessKeys)
    if (!found.some((witness) => witness.trusted && witness.name === name)) recorder.note(`The witness ${name} did not confirm the checkpoint.`);
  for (const { name, time, trusted } of found)
    recorder.note(
      trusted ? `The witness ${name} confirmed the checkpoint at ${time}.` : `The signature of the witness ${name} was not checked (use --witness-key).`,
    );
  return found;
}

function isKeyOf(witness: WitnessKey, { name, keyId }: Cosignature): boolean {
  return witness.name === name && equalBytes(witnessKeyId(witness), keyId);
}

interface Cosigned {
  signed: CosignedCheckpoint;
  cosignature: Cosignature;
}

function isValid({ platform }: CheckContext, { key }: WitnessKey, { signed, cosignature }: Cosigned): Promise<boolean> {
  const message = cosignatureMessage(signed.text, cosignature.time);
  return verifyEd25519(platform.subtle, spkiFromEd25519Raw(key), { message, signature: cosignature.signature });
}

function timeText(milliseconds: number): string {
  const time = new Date(milliseconds);
  return Number.isNaN(time.getTime()) ? 'an impossible time' : time.toISOString();
}
