import { type CAUSES, causeOf, type FindingFacts, type StandingFinding } from '@rrs/evidence-format';
import type { EvidenceChange, EvidenceFinding, EvidenceSighting } from '../../findings/facts/finding-facts.ts';
import type { ReasonCode } from '../../findings/reason-codes.ts';

/** What the standing of a finding depends on, as packages state it. */
export type StandingInputs = StandingFinding & Pick<FindingFacts, 'asset' | 'merged'>;

export function standingInputs(row: EvidenceFinding): StandingInputs {
  // The type shows that every reason code has a cause.
  const code: keyof typeof CAUSES | null = row.reason_code as ReasonCode | null;
  return {
    asset: row.asset,
    state: row.status,
    assurance: row.assurance,
    cause: causeOf({ state: row.status, code, assurance: row.assurance }),
    sources: [...new Set(row.sightings.map(({ source }) => source))].sort(),
    occurrence_count: row.occurrence_count,
    occurrences: row.occurrences,
    before: beforeOf(row.sightings),
    after: afterOf(row),
    contradicted_by: contradictedBy(row, claimOf(row.changes)),
    version_rescanned: row.has_builds ? scanned(row.sightings).every(({ rescanned }) => rescanned) : null,
    merged: row.merged.filter(({ kind }) => MERGED_BY_PEOPLE.has(kind)).map(({ id, state, title, severity }) => ({ id, state, title, severity })),
  };
}

const MERGED_BY_PEOPLE = new Set(['by_person', 'asset_merge']);
/** Findings in these states may still be seen. A scan that sees a finding claimed as fixed reopens it, so in other states it was not seen since. */
const OPEN_STATES = new Set(['open', 'in_progress']);

const scanned = (sightings: readonly EvidenceSighting[]): EvidenceSighting[] => sightings.filter(({ kind }) => kind !== 'manual');

/** The claim that still stands: nobody and nothing opened the finding again after it. */
export function claimOf(changes: readonly EvidenceChange[]): EvidenceChange | undefined {
  const statuses = changes.filter(({ status }) => status !== null);
  const opened = statuses.findLastIndex(({ status }) => status !== null && OPEN_STATES.has(status));
  return statuses.slice(opened + 1).findLast(({ status }) => status === 'remediated');
}

/** The latest scan that saw the finding. */
function beforeOf(sightings: readonly EvidenceSighting[]): StandingInputs['before'] {
  const scan = scanned(sightings).findLast(({ seen_import }) => seen_import !== null)?.seen_import ?? null;
  return scan === null ? { state: 'unknown', scan: null } : { state: 'present', scan };
}

/** Ways in which a scan can no longer show a finding. Statements that it is fixed and endings of assets and tracks are none. */
const NOT_SHOWN: ReadonlySet<EvidenceSighting['absence']> = new Set(['gone', 'retracted', 'check_retired'] as const);

const UNSCANNED: StandingInputs['after'] = { state: 'unknown', scan: null, others: [], doubts: [] };

/** What scans say now: `absent` only if no source still sees the finding, `unknown` if the last scan that saw it is older than the claim. */
function afterOf({ status, status_changed_at, sightings }: EvidenceFinding): StandingInputs['after'] {
  const own = scanned(sightings);
  const present = own.findLast(({ state }) => state === 'present');
  if (present) {
    const stillSeen = OPEN_STATES.has(status) || new Date(present.last_seen) > status_changed_at;
    return stillSeen ? { ...UNSCANNED, state: 'present', scan: present.seen_import } : UNSCANNED;
  }
  const absent = own.filter(({ state, absence }) => state === 'absent' && NOT_SHOWN.has(absence));
  const last = absent.findLast(({ absence }) => absence === 'gone') ?? absent.at(-1);
  if (!last) return UNSCANNED;
  const others = absent.flatMap(({ last_import }) => (last_import === null || last_import === last.last_import ? [] : [last_import]));
  return {
    state: 'absent',
    scan: last.last_import,
    others: [...new Set(others)].sort(),
    doubts: [...new Set(absent.flatMap(({ gaps }) => gaps ?? []))].sort(),
  };
}

/** A scan since the claim that shows a finding that is called fixed. */
function contradictedBy({ status, sightings }: EvidenceFinding, claim: EvidenceChange | undefined): string | null {
  if ((status !== 'remediated' && status !== 'verified') || !claim) return null;
  return scanned(sightings).findLast(({ state, last_seen }) => state === 'present' && new Date(last_seen) > new Date(claim.at))?.seen_import ?? null;
}
