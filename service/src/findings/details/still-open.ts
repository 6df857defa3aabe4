import { trackName } from '../../assets/track-name.ts';
import { blockers, isBlocker } from '../absence/absence.ts';
import type { FindingRow } from '../fields/field.ts';
import { isClosed } from '../status.ts';
import type { SightingRow } from './sightings.ts';

/** Why a sighting keeps its finding active, apart from the reasons for which an absence proves nothing. */
const reasons = {
  still_reported: 'The last scan of the source reports the finding.',
  no_complete_scan: 'No complete scan of the source has covered the finding since it was last reported.',
  closure_withheld:
    'A scan no longer reports the finding, but the import waits for confirmation, because it would close unusually many findings or the settings of the connection were changed.',
  reported_by_person: 'A person reported the finding. No scan can show that it is gone.',
  scan_before_claim: 'The scan that no longer reports the finding took place before somebody claimed to have fixed it. A later scan can verify it.',
  declared_fixed: 'A report calls the finding fixed. No scan has shown that it is gone.',
} as const;

export const stillOpenCodes = [...Object.keys(reasons), ...Object.keys(blockers)] as readonly StillOpenCode[];
export type StillOpenCode = keyof typeof reasons | keyof typeof blockers;

export interface StillOpen {
  sighting: SightingRow;
  code: StillOpenCode;
  sentence: string;
  import_id: string | null;
  at: Date;
}

/** For each source and track because of which a finding is still active: why. */
export function stillOpenBecause(
  { status, status_changed_at }: Pick<FindingRow, 'status' | 'status_changed_at'>,
  sightings: readonly SightingRow[],
): StillOpen[] {
  if (isClosed(status)) return [];
  const present = sightings.filter(({ state }) => state === 'present');
  if (present.length > 0 || status !== 'remediated') return present.flatMap(reasonsOf);
  return sightings.flatMap((sighting) => {
    const { absence, absent_at: at, last_import_id: import_id } = sighting;
    if (at === null || (absence !== 'declared' && at > status_changed_at)) return [];
    const code = absence === 'declared' ? 'declared_fixed' : 'scan_before_claim';
    return [{ sighting, code, sentence: reasons[code], import_id, at }];
  });
}

function reasonsOf(sighting: SightingRow): StillOpen[] {
  const because = (code: keyof typeof reasons, import_id: string | null, at: Date): StillOpen[] => [{ sighting, code, sentence: reasons[code], import_id, at }];
  const { withheld_import_id, withheld_at, missed_at, missed_import_id, missed_because, run_import_id, run_at, seen_import_id, last_seen, kind } = sighting;
  if (withheld_at !== null && withheld_at > last_seen) return because('closure_withheld', withheld_import_id, withheld_at);
  const missed = blockersOf(missed_because);
  if (missed_at !== null && missed.length > 0) return missed.map((one) => ({ sighting, ...one, import_id: missed_import_id, at: missed_at }));
  if (kind === 'manual') return because('reported_by_person', null, last_seen);
  const seenByLast = run_at !== null && (run_import_id === seen_import_id || last_seen >= run_at);
  return seenByLast ? because('still_reported', run_import_id, run_at) : because('no_complete_scan', seen_import_id, last_seen);
}

/** Stored codes with their sentences. Codes of earlier releases that no longer exist are left out. */
export function blockersOf(codes: readonly string[] | null): { code: StillOpenCode; sentence: string }[] {
  return (codes ?? []).filter(isBlocker).map((code) => ({ code, sentence: `A scan no longer reports the finding, but ${blockers[code]}.` }));
}

/** Where sources last saw the finding, without repetitions. */
export function seenBuilds(sightings: readonly SightingRow[]): { track: string; name: string; digest: string | null; commit: string | null }[] {
  const builds = sightings.flatMap(({ build, track_name }) => (build === null ? [] : [{ track: trackName(track_name), ...build }]));
  return [...new Map(builds.map((build) => [JSON.stringify(build), build])).values()];
}
