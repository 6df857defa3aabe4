import { type EvidenceDocument, fieldOf, type TrailEvent } from '@rrs/evidence-format';
import { EVIDENCE, type Fault } from '../fault.ts';

type Earlier = EvidenceDocument['earlier'][number];

interface PackageActs {
  sequence: unknown;
  outcome: Earlier['outcome'];
  /** What was published. Undefined if the audit trail does not record it. */
  index: unknown;
  tagmanifest: unknown;
}

/** What the audit trail says about the packages of the work item, by their ID. */
export type PackageFacts = Map<string, PackageActs>;

const OUTCOMES: ReadonlyMap<string, Earlier['outcome']> = new Map([
  ['package.ready', 'ready'],
  ['package.failed', 'failed'],
  ['package.superseded', 'superseded'],
]);

/** Adds the next event. */
export function addPackageEvent(packages: PackageFacts, { action, object, after }: TrailEvent): void {
  if (action === 'package.requested')
    packages.set(object.id, { sequence: fieldOf(after, 'sequence'), outcome: 'unfinished', index: undefined, tagmanifest: undefined });
  const [known, outcome] = [packages.get(object.id), OUTCOMES.get(action)];
  if (known === undefined || outcome === undefined) return;
  const [index, tagmanifest] = ['log_index', 'tagmanifest_sha256'].map((name) => fieldOf(after, name));
  packages.set(object.id, { ...known, outcome, index: index ?? known.index, tagmanifest: tagmanifest ?? known.tagmanifest });
}

/** Checks that `earlier` has the packages that were requested, and what became of them. */
export function* packageFaults({ earlier, sequence, package_id }: EvidenceDocument, packages: PackageFacts): Generator<Fault> {
  const stated = new Map(earlier.map((one) => [one.package_id, one]));
  for (const [id, acts] of packages)
    if (id !== package_id && !stated.has(id) && !(typeof acts.sequence === 'number' && acts.sequence > sequence))
      yield fault('omitted', `The audit trail shows a request for the package ${id}, but \`earlier\` does not have it.`);
  const last = earlier.findLast(({ log }) => log !== null)?.sequence ?? 0;
  for (const one of earlier) {
    const acts = packages.get(one.package_id);
    if (acts === undefined || acts.sequence !== one.sequence)
      yield fault('unproven', `The audit trail does not show a request for the package ${one.package_id} with the sequence ${one.sequence}.`);
    else yield* outcomeFaults(one, acts, last);
  }
}

function* outcomeFaults({ package_id: id, sequence, outcome, log, tagmanifest_sha256 }: Earlier, acts: PackageActs, last: number): Generator<Fault> {
  // A later package supersedes those before it without an event of their own.
  const expected = acts.outcome === 'ready' && sequence < last ? 'superseded' : acts.outcome;
  if (outcome !== expected)
    yield { ...fault('recorded_otherwise', `The audit trail records another outcome of the package ${id}.`), expected, actual: outcome };
  if ((acts.index ?? log?.index) !== log?.index || (acts.tagmanifest ?? tagmanifest_sha256) !== tagmanifest_sha256)
    yield fault('recorded_otherwise', `The audit trail records another log entry or hash of the package ${id}.`);
}

function fault(code: 'omitted' | 'unproven' | 'recorded_otherwise', detail: string): Fault {
  return { code, file: EVIDENCE, detail };
}
