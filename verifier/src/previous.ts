import { type ChainedEvent, canonicalJson, type EvidenceDocument, sha256Hex, utf8 } from '@rrs/evidence-format';
import { EVIDENCE, TRAIL } from './recompute/fault.ts';
import type { Recorder } from './report.ts';

/** What an earlier package shows, so that a later one of the same work item can be compared with it. */
export interface Previous {
  packageId: string;
  workItemId: string;
  organizationId: string;
  sequence: number;
  tagManifest: string;
  log: { epoch: number; index: number };
  /** IDs of the events in its audit trail, by the hash of their content. */
  events: ReadonlyMap<string, string>;
}

/** Hash of an event without its place in the chain, which differs between packages. */
function digestOf(event: ChainedEvent): string {
  const { seq, prev, ...content } = event;
  return sha256Hex(utf8(canonicalJson(content)));
}

export function addTo(events: Map<string, string>): (event: ChainedEvent) => void {
  return (event) => void events.set(digestOf(event), event.id);
}

export interface Comparison {
  add(event: ChainedEvent): void;
  finish(document: EvidenceDocument, recorder: Recorder): void;
}

const MAX_NAMED = 5;

/** Checks that a package still shows everything that the earlier one showed: an audit trail only grows. */
export function compareWith(previous: Previous): Comparison {
  const missing = new Map(previous.events);
  return {
    add: (event) => void missing.delete(digestOf(event)),
    finish(document, recorder) {
      const fail = (file: string, detail: string, actual: string): void => recorder.fail('history_rewritten', file, { detail, actual });
      if (missing.size > 0) {
        const named = [...missing.values()].slice(0, MAX_NAMED).join(', ');
        const count = `${missing.size} of the ${previous.events.size} events`;
        fail(TRAIL, `${count} in package ${previous.sequence} are missing or changed in this one.`, `${named}${missing.size > MAX_NAMED ? ' …' : ''}`);
      }
      const listed = document.earlier.find(({ sequence }) => sequence === previous.sequence);
      const isSame =
        listed?.package_id === previous.packageId &&
        listed.tagmanifest_sha256 === previous.tagManifest &&
        listed.log?.epoch === previous.log.epoch &&
        listed.log.index === previous.log.index;
      if (!isSame) fail(EVIDENCE, `\`earlier\` does not describe package ${previous.sequence} as you have it.`, canonicalJson(listed ?? null));
      if (missing.size === 0 && isSame) recorder.note(`All ${previous.events.size} events of package ${previous.sequence} are in this package.`);
    },
  };
}
