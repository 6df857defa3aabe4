import type { FindingFacts } from '../document/finding.ts';
import type { Scan } from '../document/scan.ts';
import type { SourceOnAsset } from '../document/scope.ts';
import type { FindingState, Standing } from '../document/states.ts';

/** What the standing of a finding depends on. */
export interface StandingFinding
  extends Pick<FindingFacts, 'state' | 'assurance' | 'cause' | 'sources' | 'occurrence_count' | 'before' | 'after' | 'contradicted_by' | 'version_rescanned'> {
  asset: Pick<FindingFacts['asset'], 'id'>;
  occurrences: readonly Pick<FindingFacts['occurrences'][number], 'source' | 'state'>[];
  merged: readonly Pick<FindingFacts['merged'][number], 'state'>[];
}

/** What it depends on besides the finding itself. */
export interface StandingFacts {
  scans: ReadonlyMap<string, Pick<Scan, 'self_described' | 'copy_of'>>;
  /** Keys of `sourceKey` of sources that were removed. */
  removedSources: ReadonlySet<string>;
}

/** Why the absence of a finding in a scan does not count. The same words are codes of gaps. */
const REFUSALS = ['scan_self_described', 'scan_copied', 'scan_contradicts', 'source_removed', 'version_not_rescanned'] as const;
export type Refusal = (typeof REFUSALS)[number];
/** Why nothing that a report says or leaves out counts. */
export const UNBELIEVED: ReadonlySet<Refusal> = new Set<Refusal>(['scan_self_described', 'scan_copied']);

interface ScansAndSources {
  scans: readonly Pick<Scan, 'id' | 'self_described' | 'copy_of'>[];
  sources: readonly Pick<SourceOnAsset, 'asset_id' | 'source' | 'removed_at'>[];
}

export function standingFacts({ scans, sources }: ScansAndSources): StandingFacts {
  return {
    scans: new Map(scans.map((scan) => [scan.id, scan])),
    removedSources: new Set(sources.flatMap(({ asset_id, source, removed_at }) => (removed_at === null ? [] : [sourceKey(asset_id, source)]))),
  };
}

function sourceKey(asset: string, source: string): string {
  return `${asset} ${source}`;
}

const UNPROVEN: ReadonlySet<string | null> = new Set(['declared', 'artifact', null]);
const ACTIVE: ReadonlySet<FindingState> = new Set(['open', 'in_progress', 'remediated']);

/** Implements the table of docs/evidence-package.md. The conclusion, all formats and the status of a work item use it. */
export function standingOf(finding: StandingFinding, facts: StandingFacts): Standing {
  const alone = standingAlone(finding, facts);
  return alone === 'remediated' && finding.merged.some(({ state }) => ACTIVE.has(state)) ? 'excepted' : alone;
}

function standingAlone(finding: StandingFinding, facts: StandingFacts): Standing {
  switch (finding.state) {
    case 'verified':
      return isProven(finding, facts) ? 'remediated' : 'active';
    case 'risk_accepted':
    case 'false_positive':
      return 'excepted';
    case 'withdrawn':
      return finding.cause === 'source' && !refusalsOf(finding, facts).some((refusal) => UNBELIEVED.has(refusal)) ? 'aside' : 'excepted';
    default:
      return 'active';
  }
}

function isProven(finding: StandingFinding, facts: StandingFacts): boolean {
  if (UNPROVEN.has(finding.assurance)) return false;
  if (finding.cause === 'second_person') return true;
  const { before, after } = finding;
  return finding.cause === 'scan' && after.state === 'absent' && after.scan !== before.scan && refusalsOf(finding, facts).length === 0;
}

/** All scans that no longer show a finding, one for each of its sources and tracks. Threat: among several, only the worst one tells how far the others can be believed. */
export function scansAfter({ after }: Pick<FindingFacts, 'after'>): string[] {
  return after.scan === null ? [] : [after.scan, ...after.others];
}

/** What speaks against the scans that no longer show a finding. */
export function refusalsOf(finding: StandingFinding, { scans, removedSources }: StandingFacts): Refusal[] {
  const gone = scansAfter(finding).flatMap((id) => scans.get(id) ?? []);
  const holds: Record<Refusal, boolean> = {
    scan_self_described: gone.some(({ self_described }) => self_described),
    scan_copied: gone.some(({ copy_of }) => copy_of !== null),
    scan_contradicts: finding.contradicted_by !== null,
    source_removed: finding.sources.some((source) => removedSources.has(sourceKey(finding.asset.id, source)) && !saidAbsent(finding, source)),
    version_not_rescanned: finding.version_rescanned === false,
  };
  return REFUSALS.filter((refusal) => holds[refusal]);
}

/** Whether the source no longer saw the finding anywhere before it was removed. Unknown if there are more places than the package lists. */
function saidAbsent({ occurrences, occurrence_count }: StandingFinding, source: string): boolean {
  const places = occurrences.filter((occurrence) => occurrence.source === source);
  return places.length > 0 && occurrence_count === occurrences.length && places.every(({ state }) => state === 'absent');
}
