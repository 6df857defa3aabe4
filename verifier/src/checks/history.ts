import { equalBytes, fromUtf8, parseConsistency, toBase64, verifyConsistency } from '@rrs/evidence-format';
import { readCheckpoint, type SignedCheckpoint, verifyNote } from './checkpoints.ts';
import type { Checked } from './context.ts';
import type { LogState } from './log.ts';
import { PROOF } from './proof-files.ts';

interface Tree {
  size: number;
  root: Uint8Array;
}

/** That the log only grew: from its earlier state to that of the package, and from what the caller saw of it. */
export async function checkHistory(checked: Checked, log: LogState): Promise<void> {
  const { opened, findings, trust } = checked;
  const bytes = opened.files.get(PROOF.consistency)?.bytes;
  const old = bytes ? await findings.guard('consistency', PROOF.consistency, () => checkConsistency(checked, fromUtf8(bytes), log)) : null;
  for (const [index, note] of trust.checkpoints.entries())
    await compareSeen(checked, { note, label: `The checkpoint you gave (number ${index + 1})` }, { log, old });
  if (findings.failed('history') || old === null) return;
  const grown = old.size === 0 ? 'the first entry of its log' : `the log continues its state of ${old.size} entries`;
  const proven = trust.logKeys.length > 0 && trust.noteKeys.length > 0 && !findings.failed('log');
  findings.settle('history', proven ? 'pass' : 'not_checked', proven ? grown : `${grown}, provided that the log is the right one`);
}

function checkConsistency({ findings }: Checked, text: string, { size, root }: LogState): Tree | null {
  const proof = parseConsistency(text);
  const old = { size: proof.oldSize, root: 'oldRoot' in proof ? proof.oldRoot : new Uint8Array() };
  if (!('oldRoot' in proof)) {
    if (size !== 1) findings.fail('consistency', PROOF.consistency, 'It starts from nothing, though there are earlier entries in the log.');
    return old;
  }
  const holds = proof.oldSize < size && verifyConsistency({ oldSize: proof.oldSize, oldRoot: proof.oldRoot, size, root, proof: proof.hashes });
  if (!holds) findings.fail('consistency', PROOF.consistency, 'The hashes do not lead from the earlier root to that of the package.');
  return old;
}

async function compareSeen(
  checked: Checked,
  { note, label }: { note: string; label: string },
  { log, old }: { log: LogState; old: Tree | null },
): Promise<void> {
  const { findings } = checked;
  let seen: SignedCheckpoint;
  try {
    seen = readCheckpoint(note);
  } catch (error) {
    findings.note(`${label} was not compared: it is no checkpoint (${error instanceof Error ? error.message : error}).`);
    return;
  }
  const { origin, size, root } = seen.checkpoint;
  if (origin !== log.origin && origin !== `${log.origin} - 1`) return findings.note(`${label} was not compared: it is of another log, ${origin}.`);
  if (!(await isSignedByLog(checked, seen, log))) return findings.note(`${label} was not compared: it is not signed by a key of this log.`);
  const same = [old, log].find((tree) => tree?.size === size);
  if (same) {
    if (equalBytes(same.root, root)) return findings.note(`${label} agrees with the log in the package at ${size} entries.`);
    return findings.fail('fork', PROOF.consistency, {
      detail: `${label} has another root at ${size} entries.`,
      expected: toBase64(root),
      actual: toBase64(same.root),
    });
  }
  const newer = size > log.size ? ` It is newer: the log has ${size - log.size} more entries, among which there may be a package that replaces this one.` : '';
  findings.note(`${label} was not compared: the package has no proof for ${size} entries.${newer}`);
}

/** The caller's own keys count as well: those of the package were compared with them, or none were given. */
async function isSignedByLog({ platform: { subtle }, trust }: Checked, seen: SignedCheckpoint, { logKey, noteKey }: LogState): Promise<boolean> {
  const p256 = [...(logKey === null ? [] : [logKey]), ...trust.logKeys];
  const ed25519 = [...(noteKey === null ? [] : [noteKey]), ...trust.noteKeys.map(({ spki }) => spki)];
  for (const spki of p256) if (await verifyNote(subtle, seen, { spki, kind: 'p256' })) return true;
  for (const spki of ed25519) if (await verifyNote(subtle, seen, { spki, kind: 'ed25519' })) return true;
  return false;
}
