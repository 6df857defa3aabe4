import {
  consistencyText,
  type EvidenceDocument,
  equalBytes,
  type LogEpoch,
  MAX_CARRIED_LEAVES,
  parseLeaves,
  parseOrigin,
  toHex,
  utf8,
} from '@rrs/evidence-format';
import type { CheckContext } from './context.ts';
import type { LogState } from './log.ts';
import { type Bundle, LEAVES, PROOF, timestampsIn } from './proof-files.ts';

const FILE = 'data/evidence.json';

interface Proven {
  log: LogState;
  bundle: Bundle;
  epoch: LogEpoch | null;
}

/** Checks what evidence.json says about the log and the timestamps, because gaps follow from it. */
export function checkLogFacts({ opened, recorder }: CheckContext, document: EvidenceDocument, { log, bundle, epoch }: Proven): void {
  const compare = (what: string, expected: string, actual: string): void => {
    if (expected !== actual) recorder.fail('log_facts', FILE, { detail: `${what} differs from the proof.`, expected, actual });
  };
  compare('The origin of the log', log.origin, document.log.origin);
  compare('The epoch of the log', String(parseOrigin(log.origin).epoch), String(document.log.epoch));
  if (epoch !== null) compare('The start of the log', epoch.at, document.log.started_at);
  // A package can be stamped again later, so only a missing timestamp contradicts the document.
  if (document.timestamped && timestampsIn(bundle).length === 0) compare('`timestamped`', 'false', 'true');
  for (const { epoch: number, index } of document.earlier.flatMap(({ log: place }) => place ?? []))
    if (number === document.log.epoch && index >= log.index)
      recorder.fail('log_facts', FILE, `An earlier package has the log entry ${index}, which is later than this one.`);
  if (deniesEarlier(opened.files.get(PROOF.consistency)?.bytes ?? null) && document.earlier.some(({ log: place }) => place?.epoch === document.log.epoch))
    recorder.fail('consistency', PROOF.consistency, 'The proof starts from an empty log, but an earlier package of the work item is in the log.');
  // An entry of an earlier epoch is not in this tree.
  const leaves = document.log.epoch === 1 ? leavesIn(opened.files.get(LEAVES)?.bytes ?? null) : null;
  for (const { index, leaf_sha256 } of document.abandoned_leaves) {
    if (index >= log.index && document.log.epoch === 1) recorder.fail('log_facts', FILE, `The abandoned log entry ${index} is later than this package.`);
    const leaf = leaves?.[index];
    if (leaf !== undefined) compare(`The abandoned log entry ${index}`, toHex(leaf), leaf_sha256);
  }
}

/** Nothing signs the proof of consistency, so anybody could replace it by the one of a first checkpoint. */
function deniesEarlier(consistency: Uint8Array | null): boolean {
  return consistency !== null && equalBytes(consistency, utf8(consistencyText({ oldSize: 0 })));
}

/** The check of the history reports leaves that cannot be read. */
function leavesIn(bytes: Uint8Array | null): Uint8Array[] | null {
  try {
    return bytes === null || bytes.length > MAX_CARRIED_LEAVES * 32 ? null : parseLeaves(bytes);
  } catch {
    return null;
  }
}
