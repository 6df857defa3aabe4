import {
  type CAUSES,
  type Cause,
  causeOf,
  DECIDED,
  type FindingFacts,
  newFinding,
  nextHistory,
  type Person,
  recordedAt,
  statedFrom,
} from '@rrs/evidence-format';
import { trackName } from '../../../assets/track-name.ts';
import type { EvidenceChange, EvidenceFinding, EvidenceSighting } from '../../../findings/facts/finding-facts.ts';
import type { ReasonCode } from '../../../findings/reason-codes.ts';
import { severityName } from '../../../findings/severity.ts';
import { earliest } from '../earliest.ts';
import type { WorkItemLinks } from './links.ts';
import { knownPerson, type ToPerson } from './persons.ts';

export interface FindingContext {
  toPerson: ToPerson;
  ownerlessKeys: ReadonlySet<string>;
  workItems: ReadonlyMap<string, WorkItemLinks>;
}

export function buildFindingFacts(row: EvidenceFinding, { toPerson, ownerlessKeys, workItems }: FindingContext): FindingFacts {
  const text = (name: string): string | null => (row.location[name] === undefined ? null : String(row.location[name]));
  // The type shows that every reason code has a cause.
  const code: keyof typeof CAUSES | null = row.reason_code as ReasonCode | null;
  const cause = causeOf({ state: row.status, code, assurance: row.assurance });
  const firstSeen = firstSeenOf(row).toISOString();
  const history = row.changes.reduce((known, change) => nextHistory(known, { ...change, at: new Date(change.at).toISOString() }), newFinding);
  const claim = claimOf(row.changes);
  const accepted = row.decision ?? { requested_by: null, approved_by: null };
  const somebody = (one: { person: string | null; name: string } | null): Person | null => one && toPerson(knownPerson(ownerlessKeys, one));
  return {
    id: row.id,
    title: row.title,
    weakness: row.weakness,
    cves: row.vulnerability_ids.filter((id) => id.startsWith('CVE-')),
    cwes: row.cwes,
    severity: severityName(row.severity),
    severity_source: severityName(Math.max(row.source_severity, ...row.sightings.map(({ peak_severity }) => peak_severity))),
    override: overrideOf(row, toPerson),
    cvss:
      row.cvss_version === null || row.cvss_vector === null || row.cvss_score === null
        ? null
        : { version: row.cvss_version, vector: row.cvss_vector, score: row.cvss_score },
    epss: row.epss === null ? null : { score: row.epss, date: row.epss_confirmed ?? row.epss_date },
    kev: row.kev,
    kev_since: row.kev_since?.toISOString() ?? null,
    risk_score: row.risk_score,
    asset: row.asset,
    component: row.component,
    component_version: text('version'),
    fixed_version: text('fixed_version'),
    purl: text('purl'),
    place: locationText(row.location),
    first_seen: firstSeen,
    last_seen: row.last_seen.toISOString(),
    state: row.status,
    // From the history, as a verifier can compute it again.
    ...statedFrom(history, firstSeen),
    cause,
    decided_by: decidedBy(row, cause, toPerson),
    claimed_at: claim ? new Date(claim.at).toISOString() : null,
    claimed_by: claim ? toPerson(claim.actor) : null,
    assurance: row.assurance,
    justification: row.justification,
    acceptance:
      row.status === 'risk_accepted'
        ? {
            owner: row.acceptance_owner ?? '',
            expires_at: row.acceptance_expires_at?.toISOString() ?? null,
            requested_by: somebody(accepted.requested_by),
            approved_by: somebody(accepted.approved_by),
          }
        : null,
    sources: [...new Set(row.sightings.map(({ source }) => source))].sort(),
    occurrence_count: row.occurrence_count,
    occurrences: row.occurrences.map(({ track, first_seen, last_seen, ...occurrence }) => ({
      ...occurrence,
      track: trackName(track),
      first_seen: new Date(first_seen).toISOString(),
      last_seen: new Date(last_seen).toISOString(),
    })),
    before: beforeOf(row.sightings),
    after: afterOf(row),
    contradicted_by: contradictedBy(row, claim),
    suppressed: isSuppressed(row.sightings),
    version_rescanned: row.has_builds ? scanned(row.sightings).every(({ rescanned }) => rescanned) : null,
    work_items: workItems.get(row.id) ?? [],
    merged: row.merged.filter(({ kind }) => MERGED_BY_PEOPLE.has(kind)).map(({ id, state, title, severity }) => ({ id, state, title, severity })),
  };
}

/** Reports that were dated later than they were received do not delay the clock. */
function firstSeenOf({ id, first_seen, created_at, merged, sightings, occurrences }: EvidenceFinding): Date {
  const seen = [...merged, ...sightings, ...occurrences].map((one) => one.first_seen);
  const recorded = [id, ...merged.map((one) => one.id)].flatMap((one) => recordedAt(one) ?? []);
  return earliest(first_seen, [created_at, ...[...seen, ...recorded].map((time) => new Date(time))]);
}

const MERGED_BY_PEOPLE = new Set(['by_person', 'asset_merge']);
/** Findings in these states may still be seen. A scan that sees a finding claimed as fixed reopens it, so in other states it was not seen since. */
const OPEN_STATES = new Set(['open', 'in_progress']);

const scanned = (sightings: readonly EvidenceSighting[]): EvidenceSighting[] => sightings.filter(({ kind }) => kind !== 'manual');

function decidedBy({ status, changes }: EvidenceFinding, cause: Cause, toPerson: ToPerson): Person | null {
  if (!DECIDED.has(cause)) return null;
  const decision = changes.findLast((change) => change.status === status && change.import_id === null);
  return decision ? toPerson(decision.actor) : null;
}

/** The claim that still stands: nobody and nothing opened the finding again after it. */
function claimOf(changes: readonly EvidenceChange[]): EvidenceChange | undefined {
  const statuses = changes.filter(({ status }) => status !== null);
  const opened = statuses.findLastIndex(({ status }) => status !== null && OPEN_STATES.has(status));
  return statuses.slice(opened + 1).findLast(({ status }) => status === 'remediated');
}

function overrideOf({ severity_override, severity_override_by, severity_override_reason, status_changed_at, changes }: EvidenceFinding, toPerson: ToPerson) {
  if (severity_override === null) return null;
  const change = changes.findLast(({ override }) => override !== undefined);
  return {
    severity: severityName(severity_override),
    by: toPerson(change?.actor ?? { type: 'member', id: null, name: severity_override_by ?? '' }),
    at: (change ? new Date(change.at) : status_changed_at).toISOString(),
    reason: severity_override_reason,
  };
}

function locationText(location: Record<string, unknown>): string | null {
  const { path, line, url, port, protocol, resource } = location;
  if (path !== undefined) return line === undefined ? String(path) : `${path}:${line}`;
  if (url !== undefined) return String(url);
  if (port !== undefined) return protocol === undefined ? `port ${port}` : `port ${port}/${protocol}`;
  return resource === undefined ? null : String(resource);
}

function isSuppressed(sightings: readonly EvidenceSighting[]): boolean {
  const present = sightings.filter(({ state }) => state === 'present');
  return present.length > 0 && present.every(({ suppressed }) => suppressed);
}

/** The latest scan that saw the finding. */
function beforeOf(sightings: readonly EvidenceSighting[]): FindingFacts['before'] {
  const scan = scanned(sightings).findLast(({ seen_import }) => seen_import !== null)?.seen_import ?? null;
  return scan === null ? { state: 'unknown', scan: null } : { state: 'present', scan };
}

/** Ways in which a scan can no longer show a finding. Statements that it is fixed and endings of assets and tracks are none. */
const NOT_SHOWN: ReadonlySet<EvidenceSighting['absence']> = new Set(['gone', 'retracted', 'check_retired'] as const);

const UNSCANNED: FindingFacts['after'] = { state: 'unknown', scan: null, others: [], doubts: [] };

/** What scans say now: `absent` only if no source still sees the finding, `unknown` if the last scan that saw it is older than the claim. */
function afterOf({ status, status_changed_at, sightings }: EvidenceFinding): FindingFacts['after'] {
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
