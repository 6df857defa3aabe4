import type { Evidence } from '../../../document/evidence.ts';
import type { Finding } from '../../../document/finding.ts';
import type { Person, PersonFacts } from '../../../document/people.ts';
import type { Scan } from '../../../document/scan.ts';
import { SEVERITIES } from '../../../document/states.ts';
import { DISPOSITION_IDS, dispositionOf } from '../dispositions.ts';
import { grouped } from '../words/numbers.ts';

/** Short names of findings, scans, artifacts and assets, and what is known behind an ID. */
export interface Names {
  /** What is not fixed first, then the most severe. */
  findings: readonly Finding[];
  scans: readonly Scan[];
  /** F1, S1, A1, …, or null. */
  of(id: string): string | null;
  /** The text that a person gave the object, or null. */
  titleOf(id: string): string | null;
  person(who: Pick<Person, 'person' | 'id'>): PersonFacts | undefined;
  scan(id: string | null): Scan | undefined;
}

const PREFIXES = { finding: 'F', scan: 'S', artifact: 'A', asset: 'H', approval: 'P', 'removed finding': 'U', 'merged finding': 'M' } as const;

export function namesOf(evidence: Evidence): Names {
  const findings = sorted(evidence.findings);
  const scans = evidence.scans.toSorted(
    (one, other) => PHASES.indexOf(one.phase) - PHASES.indexOf(other.phase) || compare(one.received_at, other.received_at) || compare(one.id, other.id),
  );
  const known = new Map<string, { label: string; title: string | null }>();
  const add = (kind: keyof typeof PREFIXES, items: readonly { id: string; title?: string; name?: string }[]) => {
    for (const [index, { id, title, name }] of items.entries()) known.set(id, { label: `${PREFIXES[kind]}${index + 1}`, title: title ?? name ?? null });
  };
  add('approval', evidence.approvals);
  add('asset', evidence.assets);
  add('artifact', evidence.artifacts);
  add(
    'scan',
    scans.map(({ id, tool }) => ({ id, name: tool })),
  );
  add('removed finding', evidence.unlinked);
  add('finding', findings);
  const merged = evidence.findings.flatMap((finding) => finding.merged);
  add('merged finding', merged);
  const people = new Map(evidence.people.map((person) => [person.id, person]));
  const byId = new Map(scans.map((scan) => [scan.id, scan]));
  return {
    findings,
    scans,
    of: (id) => known.get(id)?.label ?? null,
    titleOf: (id) => known.get(id)?.title ?? people.get(id)?.name ?? null,
    person: ({ person, id }) => people.get(person ?? id ?? ''),
    scan: (id) => (id === null ? undefined : byId.get(id)),
  };
}

const PHASES: readonly Scan['phase'][] = ['before', 'after', 'other'];

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

function sorted(findings: readonly Finding[]): Finding[] {
  const rank = new Map(
    findings.map((finding) => [finding, DISPOSITION_IDS.indexOf(dispositionOf(finding)) * 10 + SEVERITIES.indexOf(finding.severity_source)]),
  );
  return findings.toSorted((one, other) => (rank.get(one) ?? 0) - (rank.get(other) ?? 0) || other.risk_score - one.risk_score || compare(one.id, other.id));
}

/** Lists the first short names in their order, and the number of the others. */
export function listNames(ids: readonly string[], names: Names, most = 12): string {
  const named = ids.map((id) => names.of(id) ?? names.titleOf(id) ?? id).toSorted(byLabel);
  const more = named.length - most;
  return `${named.slice(0, most).join(', ')}${more > 0 ? ` and ${grouped(more)} more` : ''}`;
}

const LABEL = /^([A-Z])(\d+)$/;

/** F2 comes before F10. Names that are no labels come last, in the order in which they were given. */
function byLabel(one: string, other: string): number {
  const [a, b] = [LABEL.exec(one), LABEL.exec(other)];
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return compare(a[1] ?? '', b[1] ?? '') || Number(a[2]) - Number(b[2]);
}
