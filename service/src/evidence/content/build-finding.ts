import type { Finding } from '@rrs/evidence-format';
import { trackName } from '../../assets/track-name.ts';
import type { EvidenceFinding, EvidenceSighting } from '../../findings/list/evidence-facts.ts';
import { severityName } from '../../findings/severity.ts';

/** Findings in these states may still be seen. A scan that sees a finding claimed as fixed reopens it, so in other states it was not seen since. */
const OPEN_STATES = new Set(['open', 'in_progress']);

export function buildFinding(facts: EvidenceFinding, asOf: Date): Finding {
  const due = facts.due_at instanceof Date ? facts.due_at : null;
  const text = (name: string): string | null => (facts.location[name] === undefined ? null : String(facts.location[name]));
  return {
    id: facts.id,
    title: facts.title,
    weakness: facts.weakness,
    cves: facts.vulnerability_ids.filter((id) => id.startsWith('CVE-')),
    cwes: facts.cwes,
    severity: severityName(facts.severity),
    cvss:
      facts.cvss_version === null || facts.cvss_vector === null || facts.cvss_score === null
        ? null
        : { version: facts.cvss_version, vector: facts.cvss_vector, score: facts.cvss_score },
    epss: facts.epss === null ? null : { score: facts.epss, date: facts.epss_date },
    kev: facts.kev,
    risk_score: facts.risk_score,
    asset: facts.asset,
    component: facts.component,
    component_version: text('version'),
    fixed_version: text('fixed_version'),
    purl: text('purl'),
    place: locationText(facts.location),
    first_seen: facts.first_seen.toISOString(),
    last_seen: facts.last_seen.toISOString(),
    due_at: due?.toISOString() ?? null,
    closed_at: facts.closed_at?.toISOString() ?? null,
    within_sla: due === null ? null : (facts.closed_at ?? asOf) <= due,
    state: facts.status,
    state_reason: facts.status_reason,
    state_changed_at: facts.status_changed_at.toISOString(),
    state_changed_by: facts.status_changed_by,
    assurance: facts.assurance,
    justification: facts.justification,
    acceptance: facts.acceptance_expires_at === null ? null : { owner: facts.acceptance_owner ?? '', expires_at: facts.acceptance_expires_at.toISOString() },
    reopen_count: facts.reopen_count,
    sources: [...new Set(facts.sightings.map(({ source }) => source))].sort(),
    occurrence_count: facts.occurrence_count,
    occurrences: facts.occurrences.map(({ track, first_seen, last_seen, ...occurrence }) => ({
      ...occurrence,
      track: trackName(track),
      first_seen: new Date(first_seen).toISOString(),
      last_seen: new Date(last_seen).toISOString(),
    })),
    before: beforeOf(facts.sightings),
    after: afterOf(facts),
  };
}

function locationText(location: Record<string, unknown>): string | null {
  const { path, line, url, port, protocol, resource } = location;
  if (path !== undefined) return line === undefined ? String(path) : `${path}:${line}`;
  if (url !== undefined) return String(url);
  if (port !== undefined) return protocol === undefined ? `port ${port}` : `port ${port}/${protocol}`;
  return resource === undefined ? null : String(resource);
}

/** The latest scan that saw the finding. */
function beforeOf(sightings: readonly EvidenceSighting[]): Finding['before'] {
  const scan = sightings.findLast(({ kind, seen_import }) => kind !== 'manual' && seen_import !== null)?.seen_import ?? null;
  return scan === null ? { state: 'unknown', scan: null } : { state: 'present', scan };
}

/** What scans say now: `absent` only if no source still sees the finding, `unknown` if the last scan that saw it is older than the claim. */
function afterOf({ status, status_changed_at, sightings }: EvidenceFinding): Finding['after'] {
  const scanned = sightings.filter(({ kind }) => kind !== 'manual');
  const present = scanned.findLast(({ state }) => state === 'present');
  if (present) {
    const stillSeen = OPEN_STATES.has(status) || new Date(present.last_seen) > status_changed_at;
    return stillSeen ? { state: 'present', scan: present.seen_import } : { state: 'unknown', scan: null };
  }
  const absent = scanned.findLast(({ state }) => state === 'absent');
  return absent ? { state: 'absent', scan: absent.last_import } : { state: 'unknown', scan: null };
}
