import { type Cause, DECIDED, type FindingFacts, newFinding, nextHistory, type Person, recordedAt, statedFrom } from '@rrs/evidence-format';
import { trackName } from '../../../assets/track-name.ts';
import type { EvidenceFinding, EvidenceSighting } from '../../../findings/facts/finding-facts.ts';
import { severityName } from '../../../findings/severity.ts';
import { claimOf, standingInputs } from '../../../work-items/standing/standing-inputs.ts';
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
  const standing = standingInputs(row);
  const { cause } = standing;
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
    asset: standing.asset,
    component: row.component,
    component_version: text('version'),
    fixed_version: text('fixed_version'),
    fix_published_date: row.fix_published_date,
    purl: text('purl'),
    place: locationText(row.location),
    first_seen: firstSeen,
    last_seen: row.last_seen.toISOString(),
    state: standing.state,
    // From the history, as a verifier can compute it again.
    ...statedFrom(history, firstSeen),
    cause,
    decided_by: decidedBy(row, cause, toPerson),
    claimed_at: claim ? new Date(claim.at).toISOString() : null,
    claimed_by: claim ? toPerson(claim.actor) : null,
    assurance: standing.assurance,
    justification: row.status === 'false_positive' ? row.justification : null,
    acceptance:
      row.status === 'risk_accepted'
        ? {
            owner: row.acceptance_owner ?? '',
            expires_at: row.acceptance_expires_at?.toISOString() ?? null,
            compensating_control: row.compensating_control,
            requested_by: somebody(accepted.requested_by),
            approved_by: somebody(accepted.approved_by),
          }
        : null,
    sources: standing.sources,
    occurrence_count: standing.occurrence_count,
    occurrences: row.occurrences.map(({ track, first_seen, last_seen, ...occurrence }) => ({
      ...occurrence,
      track: trackName(track),
      first_seen: new Date(first_seen).toISOString(),
      last_seen: new Date(last_seen).toISOString(),
    })),
    before: standing.before,
    after: standing.after,
    contradicted_by: standing.contradicted_by,
    suppressed: isSuppressed(row.sightings),
    version_rescanned: standing.version_rescanned,
    work_items: workItems.get(row.id) ?? [],
    merged: standing.merged,
  };
}

/** Reports that were dated later than they were received do not delay the clock. */
function firstSeenOf({ id, first_seen, created_at, merged, sightings, occurrences }: EvidenceFinding): Date {
  const seen = [...merged, ...sightings, ...occurrences].map((one) => one.first_seen);
  const recorded = [id, ...merged.map((one) => one.id)].flatMap((one) => recordedAt(one) ?? []);
  return earliest(first_seen, [created_at, ...[...seen, ...recorded].map((time) => new Date(time))]);
}

function decidedBy({ status, changes }: EvidenceFinding, cause: Cause, toPerson: ToPerson): Person | null {
  if (!DECIDED.has(cause)) return null;
  const decision = changes.findLast((change) => change.status === status && change.import_id === null);
  return decision ? toPerson(decision.actor) : null;
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
