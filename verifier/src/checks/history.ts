import {
  emptyRoot,
  equalBytes,
  fromHex,
  fromUtf8,
  type GivenConsistency,
  type LogEpoch,
  logOrigin,
  MAX_CARRIED_LEAVES,
  parseConsistency,
  parseConsistencyAnswer,
  parseLeaves,
  parseOrigin,
  rootFromLeaves,
  toBase64,
  verifyConsistency,
} from '@rrs/evidence-format';
import { readCosigned, type SignedCheckpoint, verifyNote } from './checkpoints.ts';
import type { CheckContext } from './context.ts';
import type { LogState } from './log.ts';
import { LEAVES, PROOF } from './proof-files.ts';

interface Tree {
  size: number;
  root: Uint8Array;
}

/** Trees that the package proves to be earlier states of its log, or of the epoch before. */
interface Known {
  log: LogState;
  old: Tree | null;
  leaves: Uint8Array[] | null;
  epoch: LogEpoch | null;
}

/** Checks that the log is append-only: from its earlier state to the state in the package, and compared with the caller's checkpoints. */
export async function checkHistory(context: CheckContext, log: LogState, epoch: LogEpoch | null): Promise<void> {
  const { opened, recorder, trust } = context;
  const bytes = opened.files.get(PROOF.consistency)?.bytes;
  const old = bytes ? await recorder.guard('consistency', PROOF.consistency, () => checkConsistency(context, fromUtf8(bytes), log)) : null;
  const carried = opened.files.get(LEAVES)?.bytes;
  const leaves = carried ? await recorder.guard('consistency', LEAVES, () => checkLeaves(context, carried, { log, old })) : null;
  let compared = 0;
  for (const [index, note] of trust.checkpoints.entries()) {
    const isCompared = await compareCheckpoint(context, { note, label: `Your checkpoint ${index + 1}` }, { log, old, leaves, epoch });
    if (isCompared) compared++;
  }
  if (recorder.failed('history') || old === null) return;
  const detail = old.size === 0 ? `the package has all ${log.size} entries of its log` : `the log extends its earlier state of ${old.size} entries`;
  if (compared < trust.checkpoints.length)
    return recorder.setLayer('history', 'not_checked', `${detail}, but ${trust.checkpoints.length - compared} of your checkpoints could not be compared`);
  const proven = trust.logKeys.length > 0 && trust.noteKeys.length > 0 && !recorder.failed('log');
  recorder.setLayer('history', proven ? 'pass' : 'not_checked', proven ? detail : `${detail}, provided that the log is genuine`);
}

function checkConsistency({ recorder }: CheckContext, text: string, { size, root }: LogState): Tree | null {
  const proof = parseConsistency(text);
  if (!('oldRoot' in proof)) {
    // A smaller log need not name an earlier state: the package has all its leaves, from which every earlier root follows.
    if (size > MAX_CARRIED_LEAVES) recorder.fail('consistency', PROOF.consistency, 'The proof starts from an empty log, but the log has earlier checkpoints.');
    return { size: 0, root: emptyRoot };
  }
  const isValid = proof.oldSize < size && verifyConsistency({ oldSize: proof.oldSize, oldRoot: proof.oldRoot, size, root, proof: proof.hashes });
  if (!isValid) recorder.fail('consistency', PROOF.consistency, 'The hashes do not connect the earlier root with the root in the package.');
  return { size: proof.oldSize, root: proof.oldRoot };
}

/** The leaves of the whole log determine its root and every earlier root. */
function checkLeaves({ recorder }: CheckContext, bytes: Uint8Array, { log }: Pick<Known, 'log' | 'old'>): Uint8Array[] | null {
  const leaves = parseLeaves(bytes);
  if (leaves.length === log.size && leaves.length <= MAX_CARRIED_LEAVES && equalBytes(rootFromLeaves(leaves), log.root)) return leaves;
  recorder.fail('consistency', LEAVES, 'The hashes are not the leaves of the log in the package.');
  return null;
}

interface Given {
  note: string;
  label: string;
}

/** Returns whether the checkpoint could be compared. */
async function compareCheckpoint(context: CheckContext, { note, label }: Given, known: Known): Promise<boolean> {
  const { recorder } = context;
  const skip = (why: string): false => {
    recorder.note(`${label} was not compared: ${why}`);
    return false;
  };
  let given: SignedCheckpoint;
  try {
    given = readCosigned(note);
  } catch (error) {
    return skip(`it is not a valid checkpoint (${error instanceof Error ? error.message : error}).`);
  }
  if (!(await isSignedByLog(context, given, known.log))) return skip('it is not signed with a key of this log.');
  const { size, root } = given.checkpoint;
  const origin = logOrigin(parseOrigin(given.checkpoint.origin));
  const previous = known.epoch?.previous ?? null;
  const isPrevious = previous !== null && origin === previous.origin;
  if (origin !== known.log.origin && !isPrevious) return skip(`it belongs to another log, ${origin}.`);
  const tree = { size, root };
  if (isPrevious && size > previous.highest_known.size) {
    const denied = size - previous.highest_known.size;
    recorder.fail('fork', PROOF.epoch, {
      detail: `${label} has ${denied === 1 ? 'an entry' : `${denied} entries`} that the log denies: it was restarted (${known.epoch?.reason}), and knows ${previous.highest_known.size} entries of the earlier log.`,
      expected: String(size),
      actual: String(previous.highest_known.size),
    });
    return true;
  }
  const found = isPrevious ? inPreviousEpoch(context, tree, previous) : inThisLog(context, tree, known);
  if (typeof found === 'string') return skip(found);
  if (!equalBytes(found.root, root)) {
    const [expected, actual] = [root, found.root].map(toBase64) as [string, string];
    recorder.fail('fork', PROOF.consistency, { detail: `${label} has a different root at ${size} entries.`, expected, actual });
  } else if (isPrevious) recorder.note(`${label} matches the earlier log, before it was restarted, at ${size} entries.`);
  else recorder.note(`${label} matches the log in the package at ${size} entries.${size > known.log.size ? newer(size, known.log) : ''}`);
  return true;
}

function newer(size: number, log: LogState): string {
  return ` It is newer: the log has ${size - log.size} more entries. One of them may be a package that replaces this one.`;
}

/** The tree of the package's log that has the size of the checkpoint, or why it is not known. */
function inThisLog({ trust }: CheckContext, { size, root }: Tree, { log, old, leaves }: Known): Tree | string {
  const same = [old, log].find((tree) => tree?.size === size);
  if (same) return same;
  if (size < log.size && leaves !== null) return { size, root: rootFromLeaves(leaves.slice(0, size)) };
  const [smaller, larger] = size < log.size ? [{ size, root }, log] : [log, { size, root }];
  const proof = givenProof(trust.consistencies, { origin: log.origin, smaller, larger });
  if (typeof proof === 'string') return `${proof}${size > log.size ? newer(size, log) : ''}`;
  // The proof connects its own older root with the newer one. If that is not the older root that is known, the two trees are a fork.
  if (size < log.size) return { size, root: proof.oldRoot };
  return equalBytes(proof.oldRoot, log.root) ? { size, root } : { size, root: log.root };
}

/** The tree of the previous epoch that has the size of the checkpoint, which is not beyond everything that the log admits to. */
function inPreviousEpoch({ trust }: CheckContext, tree: Tree, { origin, kept, highest_known: highest }: NonNullable<LogEpoch['previous']>): Tree | string {
  const keptTree = { size: kept.size, root: fromHex(kept.root) };
  if (tree.size === kept.size && highest.size > kept.size) return keptTree;
  if (tree.size === highest.size && highest.root !== null) return { size: tree.size, root: fromHex(highest.root) };
  if (tree.size === kept.size) return keptTree;
  if (tree.size > kept.size) return 'it belongs to the part of the earlier log that was lost when the log was restarted.';
  const proof = givenProof(trust.consistencies, { origin, smaller: tree, larger: keptTree });
  return typeof proof === 'string' ? proof : { size: tree.size, root: proof.oldRoot };
}

interface Wanted {
  origin: string;
  smaller: Tree;
  larger: Tree;
}

/** Finds a valid proof for the two sizes that leads to the newer root. The caller compares the older root. */
function givenProof(texts: readonly string[], { origin, smaller, larger }: Wanted): GivenConsistency | string {
  const { epoch } = parseOrigin(origin);
  const call = `GET /api/v1/riskops-evidence/log/proof/consistency?epoch=${epoch}&from=${smaller.size}&to=${larger.size}`;
  const proofs = texts.map(parseConsistencyAnswer).filter((proof) => proof.origin === origin && proof.oldSize === smaller.size && proof.size === larger.size);
  if (proofs.length === 0)
    return `the package has no proof for ${smaller.size} and ${larger.size} entries. Save the answer to ${call} and give it as --consistency.`;
  const valid = proofs.find((proof) => equalBytes(proof.root, larger.root) && verifyConsistency(proof));
  return valid ?? `your consistency proof does not lead to the newer of the two trees. Save the answer to ${call} again.`;
}

/** Accepts the keys in the package and the caller's keys. The log check compares the two if the caller supplied keys. */
async function isSignedByLog({ platform: { subtle }, trust }: CheckContext, earlier: SignedCheckpoint, { logKey, noteKey }: LogState): Promise<boolean> {
  const p256 = [...(logKey === null ? [] : [logKey]), ...trust.logKeys];
  const ed25519 = [...(noteKey === null ? [] : [noteKey]), ...trust.noteKeys.map(({ spki }) => spki)];
  for (const spki of p256) if (await verifyNote(subtle, earlier, { spki, kind: 'p256' })) return true;
  for (const spki of ed25519) if (await verifyNote(subtle, earlier, { spki, kind: 'ed25519' })) return true;
  return false;
}
