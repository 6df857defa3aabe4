import { equalBytes, fromUtf8, parseConsistency, signerOf, toBase64, verifyConsistency } from '@rrs/evidence-format';
import { readCheckpoint, type SignedCheckpoint, verifyNote } from './checkpoints.ts';
import type { CheckContext } from './context.ts';
import type { LogState } from './log.ts';
import { PROOF } from './proof-files.ts';

interface Tree {
  size: number;
  root: Uint8Array;
}

/** Checks that the log is append-only: from its earlier state to the state in the package, and compared with the caller's checkpoints. */
export async function checkHistory(context: CheckContext, log: LogState): Promise<void> {
  const { opened, recorder, trust } = context;
  const bytes = opened.files.get(PROOF.consistency)?.bytes;
  const old = bytes ? await recorder.guard('consistency', PROOF.consistency, () => checkConsistency(context, fromUtf8(bytes), log)) : null;
  let uncompared = 0;
  for (const [index, note] of trust.checkpoints.entries())
    if (!(await compareCheckpoint(context, { note, label: `Your checkpoint ${index + 1}` }, { log, old }))) uncompared++;
  if (recorder.failed('history') || old === null) return;
  const detail = old.size === 0 ? 'first entry of its log' : `the log extends its earlier state of ${old.size} entries`;
  if (uncompared > 0)
    return recorder.setLayer('history', 'not_checked', `${uncompared} of ${trust.checkpoints.length} checkpoints not compared: see the notes`);
  const proven = trust.logKeys.length > 0 && trust.noteKeys.length > 0 && !recorder.failed('log');
  recorder.setLayer('history', proven ? 'pass' : 'not_checked', proven ? detail : `${detail}, provided that the log is genuine`);
}

function checkConsistency({ recorder }: CheckContext, text: string, { size, root }: LogState): Tree | null {
  const proof = parseConsistency(text);
  const old = { size: proof.oldSize, root: 'oldRoot' in proof ? proof.oldRoot : new Uint8Array() };
  if (!('oldRoot' in proof)) {
    if (size !== 1) recorder.fail('consistency', PROOF.consistency, 'The proof starts from an empty log, but the log has earlier entries.');
    return old;
  }
  const isValid = proof.oldSize < size && verifyConsistency({ oldSize: proof.oldSize, oldRoot: proof.oldRoot, size, root, proof: proof.hashes });
  if (!isValid) recorder.fail('consistency', PROOF.consistency, 'The hashes do not connect the earlier root with the root in the package.');
  return old;
}

/** Returns whether the checkpoint could be compared. */
async function compareCheckpoint(
  context: CheckContext,
  { note, label }: { note: string; label: string },
  { log, old }: { log: LogState; old: Tree | null },
): Promise<boolean> {
  const { recorder } = context;
  let earlier: SignedCheckpoint;
  try {
    earlier = readCheckpoint(note);
  } catch (error) {
    recorder.note(`${label} was not compared: it is not a valid checkpoint (${error instanceof Error ? error.message : error}).`);
    return false;
  }
  const { origin, size, root } = earlier.checkpoint;
  if (signerOf(origin) !== log.origin) {
    recorder.note(`${label} was not compared: it belongs to another log, ${origin}.`);
    return false;
  }
  if (!(await isSignedByLog(context, earlier, log))) {
    recorder.note(`${label} was not compared: it is not signed with a key of this log.`);
    return false;
  }
  const same = [old, log].find((tree) => tree?.size === size);
  if (same) {
    if (equalBytes(same.root, root)) {
      recorder.note(`${label} matches the log in the package at ${size} entries.`);
      return true;
    }
    recorder.fail('fork', PROOF.consistency, {
      detail: `${label} has a different root at ${size} entries.`,
      expected: toBase64(root),
      actual: toBase64(same.root),
    });
    return true;
  }
  const newer = size > log.size ? ` It is newer: the log has ${size - log.size} more entries. One of them may be a package that replaces this one.` : '';
  recorder.note(`${label} was not compared: the package has no proof for ${size} entries.${newer}`);
  return false;
}

/** Accepts the keys in the package and the caller's keys. The log check compares the two if the caller supplied keys. */
async function isSignedByLog({ platform: { subtle }, trust }: CheckContext, earlier: SignedCheckpoint, { logKey, noteKey }: LogState): Promise<boolean> {
  const p256 = [...(logKey === null ? [] : [logKey]), ...trust.logKeys];
  const ed25519 = [...(noteKey === null ? [] : [noteKey]), ...trust.noteKeys.map(({ spki }) => spki)];
  for (const spki of p256) if (await verifyNote(subtle, earlier, { spki, kind: 'p256' })) return true;
  for (const spki of ed25519) if (await verifyNote(subtle, earlier, { spki, kind: 'ed25519' })) return true;
  return false;
}
