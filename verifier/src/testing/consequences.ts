import {
  collectionOf,
  deriveEvidence,
  type Evidence,
  type Finding,
  newFinding,
  nextHistory,
  scansAfter,
  statedFrom,
  type TrailEvent,
} from '@rrs/evidence-format';

/** The evidence with everything that follows from its facts and the audit trail, as somebody would write it who changes a fact and knows the rules. */
export function consequencesOf(changed: Evidence, events: readonly TrailEvent[]): Evidence {
  const facts = structuredClone(changed);
  for (const finding of facts.findings) Object.assign(finding, followingTimes(finding, events));
  const [before, after] = [new Set(facts.findings.map((finding) => finding.before.scan)), new Set(facts.findings.flatMap(absentIn))];
  for (const scan of facts.scans) scan.phase = after.has(scan.id) ? 'after' : before.has(scan.id) ? 'before' : 'other';
  const captures = facts.artifacts.flatMap(({ id, file, captured }) => {
    const entry = captured ? facts.collection.find((one) => one.file === file) : undefined;
    return entry ? [[id, { source: entry.source, at: entry.collected_at }] as const] : [];
  });
  facts.collection = collectionOf(facts.scans, facts.artifacts, new Map(captures));
  return deriveEvidence(facts, events);
}

function absentIn(finding: Finding): string[] {
  return finding.after.state === 'absent' ? scansAfter(finding) : [];
}

/** A finding is seen at each place, and its deadline starts, when it is first seen. */
function followingTimes({ id, first_seen, last_seen, occurrences }: Finding, events: readonly TrailEvent[]): Partial<Finding> {
  const own = events.filter(({ object }) => object.type === 'finding' && object.id === id);
  const later = (time: string): string => (time < first_seen ? first_seen : time);
  return {
    ...statedFrom(own.reduce(nextHistory, newFinding), first_seen),
    last_seen: later(last_seen),
    occurrences: occurrences.map((one) => ({ ...one, first_seen: later(one.first_seen), last_seen: later(one.last_seen) })),
  };
}
