import { checkpointText, ed25519RawFromSpki, noteKeyIdEcdsa, noteKeyIdEd25519, noteWith, rekorOrigin, signerOf, spkiFromPem, utf8 } from '@rrs/evidence-format';
import type { Signers } from '../keys/keys.ts';
import type { SignedCheckpoint } from './transparency-log.ts';

/** The name that the transparency log of an organization gets with its first leaf. */
export function logName(publicUrl: string, orgId: string): string {
  return `${new URL(publicUrl).host}/orgs/${orgId}`;
}

interface Tree {
  origin: string;
  size: number;
  root: Uint8Array;
}

/** Signs both notes of one tree. Tools for Rekor require an origin that ends in a number, a signer name without it, and exactly one signature. */
export async function signCheckpoint({ log, logNote }: Pick<Signers, 'log' | 'logNote'>, { origin, size, root }: Tree): Promise<SignedCheckpoint> {
  const text = checkpointText({ origin, size, root });
  const rekorLine = rekorOrigin(origin);
  const rekorText = checkpointText({ origin: rekorLine, size, root });
  const noteKeyId = noteKeyIdEd25519(origin, ed25519RawFromSpki(spkiFromPem(logNote.publicKeyPem)));
  const [signature, rekorSignature] = await Promise.all([logNote.sign(utf8(text)), log.sign(utf8(rekorText))]);
  return {
    size,
    root,
    note: noteWith(text, [{ name: origin, keyId: noteKeyId, signature }]),
    rekorNote: noteWith(rekorText, [{ name: signerOf(rekorLine), keyId: noteKeyIdEcdsa(spkiFromPem(log.publicKeyPem)), signature: rekorSignature }]),
  };
}
