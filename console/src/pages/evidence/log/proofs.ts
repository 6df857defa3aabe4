import { fromHex, parseCheckpoint, parseNote, toHex, verifyConsistency, verifyInclusion } from '@rrs/evidence-format';
import { call } from '../../../api/client.ts';

/** A root hash that the page shows, so that a proof is about the tree that the person sees. */
interface Head {
  origin: string;
  epoch: number;
  tree_size: number;
  root_hash: string;
}

/** Reads the proof that an entry is in the tree, and checks it here. Throws if it does not hold. */
export async function checkInclusion({ epoch, tree_size, root_hash }: Head, index: number, leafHash: string): Promise<string> {
  const { hashes } = await call('proveLogInclusion', { query: { epoch, index, tree_size } });
  const isIn = verifyInclusion({ index, size: tree_size, leafHash: fromHex(leafHash), proof: hashes.map(fromHex), root: fromHex(root_hash) });
  if (!isIn) throw new Error(`The proof of entry ${index} does not lead to the root of the log. Keep the checkpoint and report it.`);
  return `Entry ${index} is in the log: ${hashes.length === 1 ? '1 hash leads' : `${hashes.length} hashes lead`} to the root.`;
}

/** Compares a checkpoint that somebody saved with the log as it is now. Throws if the log did not only grow. */
export async function compareCheckpoint(head: Head, note: string): Promise<string> {
  const saved = readCheckpoint(note);
  if (saved.origin !== head.origin) throw new Error(`The checkpoint belongs to another log: ${saved.origin}.`);
  if (saved.size > head.tree_size)
    throw new Error(
      `Your checkpoint has ${saved.size} entries, but the log has only ${head.tree_size}. Entries are missing. Keep the checkpoint and report it.`,
    );
  const { hashes } = await call('proveLogConsistency', { query: { epoch: head.epoch, from: saved.size, to: head.tree_size } });
  const onlyGrew = verifyConsistency({
    oldSize: saved.size,
    oldRoot: saved.root,
    size: head.tree_size,
    root: fromHex(head.root_hash),
    proof: hashes.map(fromHex),
  });
  if (!onlyGrew)
    throw new Error(`The log was rewritten: its first ${saved.size} entries no longer have the root ${toHex(saved.root)}. Keep the checkpoint and report it.`);
  return `The log only grew since your checkpoint: from ${saved.size} to ${head.tree_size} entries. None was changed or removed.`;
}

function readCheckpoint(note: string) {
  try {
    return parseCheckpoint(parseNote(note).text);
  } catch {
    throw new Error('This is not a checkpoint of a log.');
  }
}
