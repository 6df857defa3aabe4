import { readCheckpoint, verifyNote } from '../checks/checkpoints.ts';
import type { Platform } from '../platform.ts';
import { type ParsedTrust, parseTrust, type Trust } from './trust.ts';

/** Throws if a trusted key, certificate or checkpoint cannot be used, so that the caller does not believe that it was. */
export async function checkTrust(trust: Trust, { subtle }: Pick<Platform, 'subtle'>): Promise<void> {
  const parsed = parseTrust(trust);
  for (const [index, note] of trust.checkpoints.entries()) {
    const label = trust.checkpoints.length === 1 ? 'The checkpoint' : `Checkpoint ${index + 1}`;
    try {
      readCheckpoint(note);
    } catch (error) {
      throw new Error(`${label} is not a valid checkpoint: ${error instanceof Error ? error.message : error}`);
    }
    if (!(await isSignedByTrusted(subtle, note, parsed))) throw new Error(`${label} is not signed with one of your trusted log keys.`);
  }
}

/** Without trusted log keys there is nothing to compare with, and the package cannot be verified either. */
async function isSignedByTrusted(subtle: Platform['subtle'], note: string, { logKeys, noteKeys }: ParsedTrust): Promise<boolean> {
  if (logKeys.length === 0 && noteKeys.length === 0) return true;
  const signed = readCheckpoint(note);
  for (const spki of logKeys) if (await verifyNote(subtle, signed, { spki, kind: 'p256' })) return true;
  for (const { spki } of noteKeys) if (await verifyNote(subtle, signed, { spki, kind: 'ed25519' })) return true;
  return false;
}
