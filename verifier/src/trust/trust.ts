import {
  ed25519RawFromSpki,
  opensshFingerprint,
  parseVkey,
  parseWitnessVkey,
  spkiFromEd25519Raw,
  spkiFromPem,
  toHex,
  type WitnessKey,
} from '@rrs/evidence-format';
import { type Certificate, parseCertificate } from '../crypto/x509.ts';

/** What the caller trusts. All of it must come from a source other than the package. */
export interface Trust {
  /** Package keys (PEM, P-256). */
  packageKeys: string[];
  /** Log keys (PEM, P-256). */
  logKeys: string[];
  /** Checkpoint keys of the log (verifier keys, or PEM, Ed25519). */
  noteKeys: string[];
  /** Certificates of time-stamping authorities (PEM). */
  timestampRoots: string[];
  /** Checkpoints that the caller saved earlier (signed notes). */
  checkpoints: string[];
  /** Consistency proofs of the log: responses of the API. */
  consistencies?: string[];
  /** Verifier keys of witnesses of the log. At least one of them must have confirmed the checkpoint. */
  witnessKeys?: string[];
  /** Statement of the service about the status of the package: response of the API. */
  status?: string;
  /** Known periods of use of the keys above. */
  periods: Period[];
  /** Logs that the keys sign for: hosts, or full names of logs. Empty if unknown. */
  origins: string[];
  /** Organization ID that the package must belong to, and log that it must be in. Null if the caller does not say. */
  organization: string | null;
  origin: string | null;
}

export interface Period {
  /** PEM. */
  key: string;
  from: string | null;
  to: string | null;
  revoked: string | null;
}

export function emptyTrust(): Trust {
  return { packageKeys: [], logKeys: [], noteKeys: [], timestampRoots: [], checkpoints: [], periods: [], origins: [], organization: null, origin: null };
}

export interface NoteKey {
  /** Name that the key may sign for. Null for a key from a PEM file, which has no name. */
  name: string | null;
  spki: Uint8Array;
}

export interface ParsedTrust {
  packageKeys: Uint8Array[];
  logKeys: Uint8Array[];
  noteKeys: NoteKey[];
  timestampRoots: Certificate[];
  checkpoints: string[];
  consistencies: string[];
  status: string | null;
  witnessKeys: WitnessKey[];
  /** `end` is when the key was replaced or revoked, whichever came first. */
  periods: { key: Uint8Array; from: number; end: number }[];
  origins: string[];
  organization: string | null;
  origin: string | null;
}

/** Throws on an invalid key, so that callers notice when a key they supplied is not used. */
export function parseTrust(trust: Trust): ParsedTrust {
  return {
    packageKeys: trust.packageKeys.map(p256),
    logKeys: trust.logKeys.map(p256),
    noteKeys: trust.noteKeys.map(noteKey),
    timestampRoots: trust.timestampRoots.flatMap(certificates),
    checkpoints: trust.checkpoints,
    consistencies: trust.consistencies ?? [],
    status: trust.status ?? null,
    witnessKeys: (trust.witnessKeys ?? []).map((text) => parseWitnessVkey(text.trim())),
    periods: trust.periods.map(({ key, from, to, revoked }) => ({
      key: spkiFromPem(key),
      from: timeOf(from, Number.NEGATIVE_INFINITY),
      end: Math.min(timeOf(to, Number.POSITIVE_INFINITY), timeOf(revoked, Number.POSITIVE_INFINITY)),
    })),
    origins: trust.origins,
    organization: trust.organization,
    origin: trust.origin,
  };
}

function timeOf(text: string | null, unbounded: number): number {
  const time = text === null ? unbounded : Date.parse(text);
  if (Number.isNaN(time)) throw new Error(`"${text}" is not a valid time`);
  return time;
}

function p256(pem: string): Uint8Array {
  const spki = spkiFromPem(pem);
  opensshFingerprint(spki);
  return spki;
}

function certificates(pem: string): Certificate[] {
  const blocks = pemBlocks(pem, 'CERTIFICATE');
  if (blocks.length === 0) throw new Error('no PEM certificate found');
  return blocks.map((block) => parseCertificate(pemBytes(block)));
}

export function noteKey(text: string): NoteKey {
  if (text.startsWith('-----BEGIN')) {
    const spki = spkiFromPem(text);
    ed25519RawFromSpki(spki);
    return { name: null, spki };
  }
  const { name, key } = parseVkey(text.trim());
  return { name, spki: spkiFromEd25519Raw(key) };
}

export function keyKind(pem: string): 'p256' | 'ed25519' | null {
  try {
    p256(pem);
    return 'p256';
  } catch {}
  try {
    ed25519RawFromSpki(spkiFromPem(pem));
    return 'ed25519';
  } catch {}
  return null;
}

export function pemBlocks(text: string, label: string): string[] {
  return text.match(new RegExp(`-----BEGIN ${label}-----[A-Za-z0-9+/=\\s]+-----END ${label}-----`, 'g')) ?? [];
}

function pemBytes(block: string): Uint8Array {
  const body = block.replaceAll(/-----[^-]+-----|\s/g, '');
  return Uint8Array.from(atob(body), (character) => character.charCodeAt(0));
}

export function includesKey(keys: Uint8Array[], spki: Uint8Array): boolean {
  return keys.some((key) => toHex(key) === toHex(spki));
}
