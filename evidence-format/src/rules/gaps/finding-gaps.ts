import type { GapCode, GapWeight } from '../../document/evidence.ts';
import type { Finding } from '../../document/finding.ts';
import type { Scan } from '../../document/scan.ts';
import type { FindingState } from '../../document/states.ts';
import { isOther, type ProvenanceFacts, provenances } from '../provenance.ts';
import { refusalsOf, type StandingFacts, scansAfter, UNBELIEVED } from '../standing.ts';
import { severityRank } from '../trail-values.ts';
import type { GapCollector } from './collector.ts';

export interface FindingGapFacts extends StandingFacts, ProvenanceFacts {
  scans: ReadonlyMap<string, Scan>;
  asOf: string;
}

/** Adds the gaps that one finding causes. `collector` joins them with those of the other findings. */
export function addFindingGaps(finding: Finding, facts: FindingGapFacts, collector: GapCollector): void {
  const add = (code: GapCode, weight: GapWeight, names?: Record<string, string>): void => collector.add(code, weight, finding.id, names);
  if (finding.standing === 'active') add('unfinished', 'major');
  // Threat: somebody configures the tool to ignore what is still there. An exception is recorded here as well, and judged by itself.
  if (finding.suppressed) add('suppressed_in_tool', finding.standing === 'excepted' ? 'note' : 'major');
  addExceptionGaps(finding, facts, add);
  if (finding.state === 'verified') addAbsenceGaps(finding, facts, { add, collector });
  if (finding.state === 'withdrawn' && finding.cause === 'source') addDeliveryGaps(finding, facts, collector);
  if (finding.before.scan === null) add('no_scan_before', 'minor');
  addRatingGaps(finding, add);
}

type Add = (code: GapCode, weight: GapWeight, names?: Record<string, string>) => void;

const SEVERE: ReadonlySet<string> = new Set(['critical', 'high']);
const ACTIVE: ReadonlySet<FindingState> = new Set(['open', 'in_progress', 'remediated']);

function addExceptionGaps(finding: Finding, { workers, identities, asOf }: FindingGapFacts, add: Add): void {
  const { state, cause, decided_by, acceptance, merged } = finding;
  if (state === 'withdrawn') {
    if (cause === 'source') add('withdrawn_by_source', 'note');
    else if (cause === 'asset_gone') add('asset_gone', 'major');
    else add('withdrawn_by_person', 'major', { by: decided_by?.name ?? 'nobody known' });
  } else if (merged.some((each) => ACTIVE.has(each.state))) add('withdrawn_by_person', 'major', { by: 'merged with another finding' });
  if (state !== 'risk_accepted' && state !== 'false_positive') return;
  const by = acceptance?.approved_by ?? decided_by;
  if (!isOther(by, { workers, identities })) add('exception_self_decided', 'major', { by: by?.name ?? 'nobody known' });
  if (state !== 'risk_accepted') return;
  const end = acceptance?.expires_at ?? null;
  if (end === null) add('exception_without_end', 'major');
  else if (Date.parse(end) <= Date.parse(asOf)) add('exception_expired', 'major');
}

function addAbsenceGaps(finding: Finding, facts: FindingGapFacts, { add, collector }: { add: Add; collector: GapCollector }): void {
  const scan = finding.after.state === 'absent' ? facts.scans.get(finding.after.scan ?? '') : undefined;
  if (scan === undefined) add('no_rescan', 'major');
  addDeliveryGaps(finding, facts, collector);
  for (const refusal of refusalsOf(finding, facts)) if (!UNBELIEVED.has(refusal)) add(refusal, 'major');
  if (finding.cause === 'second_person' && facts.workers.has(finding.decided_by))
    add('verifier_took_part', 'major', { by: finding.decided_by?.name ?? 'nobody known' });
  if (scan === undefined) return;
  if (scan.started_at === null && scan.ended_at === null) collector.add('scan_undated', 'minor', scan.id);
  const scannedAt = scan.ended_at ?? scan.started_at ?? scan.received_at;
  if (finding.claimed_at !== null && Date.parse(scannedAt) < Date.parse(finding.claimed_at)) add('scan_older_than_claim', 'major');
  if (finding.cause !== 'scan') addDoubts(finding, scan, facts, add);
}

/** What speaks against the reports, and who delivered them. Threat: a worker who writes a report of the same build without the finding, as if its source had withdrawn it. */
function addDeliveryGaps(finding: Finding, facts: FindingGapFacts, collector: GapCollector): void {
  for (const id of scansAfter(finding)) {
    if (facts.scans.get(id)?.self_described) collector.add('scan_self_described', 'major', id);
    if ((facts.scans.get(id)?.copy_of ?? null) !== null) collector.add('scan_copied', 'major', id);
  }
  for (const { scan, provenance } of provenances(finding, facts)) {
    if (provenance === 'worker') collector.add('scan_by_worker', 'major', scan);
    if (provenance === 'other_person') collector.add('scan_by_hand', 'minor', scan);
  }
  if (finding.after.doubts.some((doubt) => STATED_BY_SENDER.has(doubt)))
    collector.add('search_stated', finding.provenance === 'worker' ? 'major' : 'minor', finding.id);
}

/** What only the sender of a report says about it. */
const STATED_BY_SENDER: ReadonlySet<string> = new Set(['search_unstated', 'part_unstated']);
const NARROWER: readonly string[] = ['scan_narrower', 'check_disabled', 'partially_covered', 'not_read'];

/** Next to a finding that a scan verified, these conditions would have kept it open. A person can verify it all the same. */
function addDoubts(finding: Finding, scan: Scan, { scans }: FindingGapFacts, add: Add): void {
  const doubts = new Set([...finding.after.doubts, ...scan.doubts]);
  const before = scans.get(finding.before.scan ?? '');
  if (doubts.has('not_credentialed') || (before?.credentialed === true && scan.credentialed === false)) add('scan_uncredentialed', 'major');
  else if (doubts.has('credentials_unstated')) add('scan_uncredentialed', 'minor');
  if (NARROWER.some((code) => doubts.has(code))) add('scan_narrower', 'major');
  else if (doubts.has('checks_unstated')) add('scan_narrower', 'minor');
  if (doubts.has('knowledge_older')) add('scanner_outdated', 'minor');
}

function addRatingGaps(finding: Finding, add: Add): void {
  const { override, severity_source, kev, title, within_sla } = finding;
  if (override !== null && severityRank(override.severity) < severityRank(severity_source)) {
    const named = `"${title}" from ${severity_source} to ${override.severity} by ${override.by.name}`;
    add('severity_lowered', SEVERE.has(severity_source) || kev ? 'major' : 'minor', { named });
  }
  if (within_sla === false && kev) add('kev_past_due', 'major');
  else if (within_sla === false) add('sla_missed', SEVERE.has(severity_source) ? 'major' : 'minor');
  if (Date.parse(finding.clock_started_at) > Date.parse(finding.first_seen)) add('clock_reset', 'minor');
}
