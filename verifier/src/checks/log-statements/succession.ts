import {
  fromBase64,
  fromUtf8,
  type KeySuccession,
  parseSuccessions,
  preAuthEncoding,
  type SuccessionEnvelope,
  spkiFromPem,
  successionKeys,
} from '@rrs/evidence-format';
import { verifyEcdsa, verifyEd25519 } from '../../crypto/signatures.ts';
import { includesKey, type ParsedTrust } from '../../trust/trust.ts';
import type { CheckContext } from '../context.ts';
import { SUCCESSION } from '../proof-files.ts';

/** Extends the caller's trust to the keys that the trusted keys named as their successors. */
export async function followSuccession(context: CheckContext): Promise<CheckContext> {
  const { opened, recorder } = context;
  const bytes = opened.files.get(SUCCESSION)?.bytes;
  const list = bytes ? await recorder.guard('succession', SUCCESSION, () => parseSuccessions(fromUtf8(bytes))) : null;
  let { trust } = context;
  for (const [index, { envelope, succession }] of (list ?? []).entries()) {
    if (await isSigned(context, envelope, succession)) trust = extended(context, trust, succession);
    else recorder.fail('succession', SUCCESSION, `Rotation ${index + 1} is not signed with all old and all new keys.`);
  }
  return { ...context, trust };
}

async function isSigned({ platform: { subtle } }: CheckContext, envelope: SuccessionEnvelope, succession: KeySuccession): Promise<boolean> {
  const keys = successionKeys(succession);
  if (keys.length !== envelope.signatures.length) return false;
  const message = preAuthEncoding(envelope.payloadType, fromBase64(envelope.payload));
  for (const [index, { keyId, kind, spki }] of keys.entries()) {
    const { keyid = '', sig = '' } = envelope.signatures[index] ?? {};
    const signed = { message, signature: fromBase64(sig) };
    if (keyid !== keyId || !(await (kind === 'p256' ? verifyEcdsa(subtle, { spki }, signed) : verifyEd25519(subtle, spki, signed)))) return false;
  }
  return true;
}

/** A key that may have been stolen cannot name its successor: only a scheduled rotation counts, while the old keys were in use. */
function extended({ recorder }: CheckContext, trust: ParsedTrust, { old, new: next, effective_at, reason }: KeySuccession): ParsedTrust {
  const from = Date.parse(effective_at);
  const [oldPackage, oldLog, oldNote] = [old.package, old.log, old.note].map(spkiFromPem) as [Uint8Array, Uint8Array, Uint8Array];
  const note = trust.noteKeys.find(({ spki }) => includesKey([spki], oldNote));
  const inUse = trust.periods.every((period) => !includesKey([period.key], oldPackage) || (from >= period.from && from <= period.end + GRACE_MS));
  if (reason !== 'scheduled' || !inUse || note === undefined || !includesKey(trust.packageKeys, oldPackage) || !includesKey(trust.logKeys, oldLog))
    return trust;
  const [newPackage, newLog, newNote] = [next.package, next.log, next.note].map(spkiFromPem) as [Uint8Array, Uint8Array, Uint8Array];
  if (includesKey(trust.packageKeys, newPackage)) return trust;
  recorder.note(`The keys that you trust were replaced at ${effective_at}. They signed the keys that replaced them.`);
  return {
    ...trust,
    packageKeys: [...trust.packageKeys, newPackage],
    logKeys: [...trust.logKeys, newLog],
    noteKeys: [...trust.noteKeys, { ...note, spki: newNote }],
    periods: [...trust.periods, { key: newPackage, from, end: Number.POSITIVE_INFINITY }],
  };
}

/** The list of keys states the end of the old key in the database's time, the rotation in that of the program. */
const GRACE_MS = 3_600_000;
