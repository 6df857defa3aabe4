import { createHash, createPublicKey } from 'node:crypto';
import { bundleFromJSON } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';

interface TrustedKeys {
  packagePem: string;
  logPem: string;
  /** The name of the log. */
  origin: string;
}

/** Verifies a bundle and its log entry with sigstore-js, which knows nothing of this service. Throws if it does not verify. */
export function verifyWithSigstore(bundleJson: string, { packagePem, logPem, origin }: TrustedKeys): void {
  const log = spki(logPem);
  const root = TrustedRoot.fromJSON({
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [
      {
        baseUrl: `https://${origin}`,
        hashAlgorithm: 'SHA2_256',
        publicKey: { rawBytes: log.toString('base64'), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor: { start: '2020-01-01T00:00:00Z' } },
        logId: { keyId: createHash('sha256').update(log).digest('base64') },
      },
    ],
    certificateAuthorities: [],
    ctlogs: [],
    timestampAuthorities: [],
  });
  const bundle = bundleFromJSON(JSON.parse(bundleJson));
  const verifier = new Verifier(
    toTrustMaterial(root, () => ({ publicKey: createPublicKey(packagePem), validFor: () => true })),
    { tlogThreshold: 1, ctlogThreshold: 0, timestampThreshold: 1 },
  );
  verifier.verify(toSignedEntity(bundle));
}

function spki(pem: string): Buffer {
  return createPublicKey(pem).export({ type: 'spki', format: 'der' });
}
