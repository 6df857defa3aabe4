import type { Static } from 'typebox';
import { trackName } from '../../assets/track-name.ts';
import { gaps, isGap } from '../absence/absence.ts';
import { shownPerson } from '../fields/acceptance.ts';
import type { FindingRow } from '../fields/field.ts';
import { listedFields } from '../fields/fields.ts';
import { shownLocation } from '../fields/location.ts';
import type { Names, ShownSource } from '../fields/names.ts';
import { showSource } from '../fields/names.ts';
import type { OccurrenceRow } from '../list/occurrences.ts';
import type { Occurrence, Sighting, StillOpenReason } from '../schemas-details.ts';
import type { FindingIdentity } from '../schemas-identity.ts';
import { severityName } from '../severity.ts';
import type { Identity } from './identity.ts';
import type { SightingRow } from './sightings.ts';
import { blockersOf, type StillOpen } from './still-open.ts';

function sourceOf({
  source_id: id,
  kind,
  provider,
  tool,
  source_name: name,
}: Pick<SightingRow, 'source_id' | 'kind' | 'provider' | 'tool' | 'source_name'>): ShownSource {
  return showSource({ id, kind, provider, tool, name });
}

export function toSighting(sighting: SightingRow, finding: FindingRow, names: Names): Static<typeof Sighting> {
  return {
    source: sourceOf(sighting),
    track: trackName(sighting.track_name),
    state: sighting.state,
    absence: sighting.absence,
    absent_at: sighting.absent_at?.toISOString() ?? null,
    gaps: (sighting.gaps ?? []).filter(isGap).map((code) => ({ code, sentence: gaps[code] })),
    missed:
      sighting.missed_at === null
        ? null
        : { at: sighting.missed_at.toISOString(), import_id: sighting.missed_import_id, because: blockersOf(sighting.missed_because) },
    external_id: sighting.external_id,
    severity: severityName(sighting.severity),
    tool_severity: sighting.tool_severity,
    suppressed: sighting.suppressed,
    reported: reportedBy(sighting, finding, names),
    first_seen: sighting.first_seen.toISOString(),
    last_seen: sighting.last_seen.toISOString(),
    last_import_id: sighting.last_import_id,
  };
}

/** What a source that is silent about everything says. */
const NOTHING = {
  severity_source: null,
  cvss_version: null,
  cvss_vector: null,
  cvss_score: null,
  epss: null,
  epss_percentile: null,
  epss_date: null,
  fix_state: null,
  fix_published_date: null,
  exploit_maturity: null,
  vulnerability_ids: [],
  cwes: [],
  location: {},
};

/** What the source says. While it is the only one, this is what the columns of the finding say. */
function reportedBy({ said }: SightingRow, finding: FindingRow, names: Names): Static<typeof Sighting>['reported'] {
  const row: FindingRow = said === null ? { ...finding, severity: finding.source_severity } : { ...finding, ...NOTHING, ...said };
  const { component, version, fixed_version, path } = shownLocation(row.location);
  return {
    title: row.title,
    severity: severityName(row.severity),
    severity_source: row.severity_source,
    vulnerability_ids: row.vulnerability_ids,
    cwes: row.cwes,
    cvss: listedFields.cvss.show(row, names),
    epss: listedFields.epss.show(row, { ...names, scores: new Map() }),
    exploit_maturity: listedFields.exploit_maturity.show(row, names),
    fix_state: listedFields.fix_state.show(row, names),
    fix_published_date: row.fix_published_date,
    component,
    version,
    fixed_version,
    path,
  };
}

export function toIdentity({ finding, asset, identifiers, sightings, aliases, rules }: Identity): Static<typeof FindingIdentity> {
  return {
    id: finding.id,
    merged_into: finding.merged_into,
    weakness: finding.weakness,
    aliases,
    component_key: finding.component_key,
    asset: { id: asset.id, type: asset.type, name: asset.name, identifiers },
    tool_ids: sightings.flatMap((sighting) =>
      sighting.external_id === null ? [] : [{ source: sourceOf(sighting), track: trackName(sighting.track_name), external_id: sighting.external_id }],
    ),
    rules: rules.map(({ id, kind, a, b, person, person_name, reason, created_at, revoked_at, revoked_by }) => ({
      id,
      kind,
      finding_id: a,
      into_id: b,
      by: shownPerson(person, person_name),
      reason,
      created_at: created_at.toISOString(),
      revoked_at: revoked_at?.toISOString() ?? null,
      revoked_by,
    })),
  };
}

export function toStillOpen({ sighting, code, sentence, import_id, at }: StillOpen): Static<typeof StillOpenReason> {
  return { source: sourceOf(sighting), track: trackName(sighting.track_name), code, sentence, stale: sighting.is_stale, import_id, at: at.toISOString() };
}

export function toOccurrence(row: OccurrenceRow): Static<typeof Occurrence> {
  return {
    id: row.id,
    place: row.label,
    location: shownLocation(row.location),
    source: sourceOf(row),
    track: trackName(row.track_name),
    state: row.state,
    first_seen: row.first_seen.toISOString(),
    last_seen: row.last_seen.toISOString(),
  };
}
