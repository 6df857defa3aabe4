import { type Bytes, equalBytes, fromBase64 } from '../bytes/bytes.ts';
import { assertFormat } from '../bytes/errors.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import { choice, name, nullable, type Of, object, sha256Text, time, uuid, whole } from '../json/typed-schema.ts';
import { validate } from '../json/validate.ts';
import { envelopeSchema } from '../signing/bundle.ts';
import type { Envelope } from '../signing/dsse.ts';
import { statementIn, statementOf } from './statements.ts';

const STATUS_TYPE = 'https://rrs.example/package-status/v1';

/** Whether a package is still current, as the service knew it at `as_of`. */
export interface PackageStatus {
  package_id: string;
  /** Epoch of the log that contains the package. */
  epoch: number;
  sequence: number;
  status: (typeof STATUSES)[number];
  /** The package that replaced it, if there is one. */
  by: string | null;
  /** Why it is superseded. */
  reason: string | null;
  /** Since when it has this status. */
  since: string;
  as_of: string;
  /** The latest checkpoint of that epoch. The root is in hexadecimal. */
  log: { size: number; root: string };
}

const STATUSES = ['ready', 'superseded'] as const;

const statusSchema: Of<PackageStatus> = object<PackageStatus>({
  package_id: uuid,
  epoch: whole(1),
  sequence: whole(1),
  status: choice(STATUSES),
  by: nullable(uuid),
  reason: nullable(name),
  since: time,
  as_of: time,
  log: object<PackageStatus['log']>({ size: whole(1), root: sha256Text }),
});

/** The subject is the tag manifest of the package, which covers all of its files. */
export function packageStatusStatement(tagManifestSha256: string, status: PackageStatus): Bytes {
  return statementOf(STATUS_TYPE, { name: 'tagmanifest-sha256.txt', sha256: tagManifestSha256 }, status);
}

export interface SignedPackageStatus {
  envelope: Envelope;
  status: PackageStatus;
  tagManifestSha256: string;
}

/** Parses the DSSE envelope that the API returns. The caller must check its signature. */
export function parsePackageStatus(json: string): SignedPackageStatus {
  const value = parseStrictJson(json);
  const [fault] = validate(envelopeSchema, value);
  assertFormat(fault === undefined, `the envelope${fault?.path === '' ? '' : ` field ${fault?.path}`} ${fault?.message}`);
  const envelope = value as Envelope;
  const bytes = fromBase64(envelope.payload);
  fromBase64(envelope.signatures[0].sig);
  const { predicate: status, subject } = statementIn<PackageStatus>(bytes, STATUS_TYPE, statusSchema);
  const tagManifestSha256 = subject[0].digest.sha256;
  assertFormat(equalBytes(packageStatusStatement(tagManifestSha256, status), bytes), 'the statement about the status is not in its exact form');
  const isReady = status.status === 'ready';
  assertFormat(isReady === (status.reason === null) && (status.by === null || !isReady), 'the statement about the status contradicts itself');
  return { envelope, status, tagManifestSha256 };
}
