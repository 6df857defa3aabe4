import type { Facts } from '../../document/evidence.ts';
import type { Person } from '../../document/people.ts';
import { SEVERITIES } from '../../document/states.ts';
import type { FinalApproval } from '../approvals.ts';
import { policyChange } from '../policies.ts';
import { isOther, type ProvenanceFacts } from '../provenance.ts';
import { CHANGE_ARTIFACTS } from '../workers.ts';
import type { GapCollector } from './collector.ts';

export type PackageFacts = Omit<Facts, 'findings'>;

const DAY = 24 * 60 * 60 * 1000;
const STALE_DAYS = 30;
const day = (time: string): string => time.slice(0, 10);

/** What else is open on the assets of the findings. */
export function addScopeGaps({ assets }: PackageFacts, collector: GapCollector): void {
  for (const { id, name, other_open, other_open_alike } of assets) {
    const counts = SEVERITIES.filter((severity) => other_open[severity] > 0).map((severity) => `${other_open[severity]} ${severity}`);
    if (other_open_alike.length > 0) collector.add('other_open_on_asset', 'major', id, { alike: `${other_open_alike.length} on ${name}` });
    else if (counts.length > 0) collector.add('other_open_on_asset', 'minor', id, { open: `${counts.join(', ')} on ${name}` });
  }
}

/** `used` are the scans that a verified finding rests on. */
export function addScanGaps({ scans }: PackageFacts, used: ReadonlySet<string>, { workers, identities }: ProvenanceFacts, collector: GapCollector): void {
  for (const { id, phase, file, confirmed } of scans) {
    if (file === null && phase !== 'other') collector.add('scan_not_kept', phase === 'after' ? 'major' : 'minor', id);
    if (confirmed === null || !used.has(id)) continue;
    collector.add('brake_confirmed', isOther(confirmed.by, { workers, identities }) ? 'minor' : 'major', id, { by: confirmed.by.name });
  }
}

/** `seenBy` has a key of `assetSource` for each source that reported a finding on an asset. */
export function addStaleSources({ sources, as_of }: PackageFacts, seenBy: ReadonlySet<string>, collector: GapCollector): void {
  for (const { asset_id, source, last_scan_at, removed_at } of sources) {
    if (removed_at !== null || last_scan_at === null || !seenBy.has(assetSource(asset_id, source))) continue;
    if (Date.parse(as_of) - Date.parse(last_scan_at) > STALE_DAYS * DAY)
      collector.add('source_stale', 'minor', asset_id, { sources: `${source} on ${day(last_scan_at)}` });
  }
}

export function assetSource(asset: string, source: string): string {
  return `${asset} ${source}`;
}

/** A part of the policy that became easier to keep since the findings were first seen. */
export interface Loosened {
  part: string;
  effectiveFrom: string;
  by: Person | null;
}

function policyHistory({ policies }: PackageFacts): { loosened: Loosened[]; changed: Omit<Loosened, 'part'>[] } {
  const steps = policies.slice(1).map((policy, index) => ({ policy, ...policyChange(policies[index], policy) }));
  return {
    loosened: steps.flatMap(({ policy, loosened }) => loosened.map((part) => ({ part, effectiveFrom: policy.effective_from, by: policy.changed_by }))),
    changed: steps.flatMap(({ policy, loosened, changed }) =>
      changed && loosened.length === 0 ? [{ effectiveFrom: policy.effective_from, by: policy.changed_by }] : [],
    ),
  };
}

function partWords(part: string): string {
  if (part === 'four_eyes') return 'four eyes are no longer required';
  if (part === 'brake') return 'the brake lets more through';
  const severity = part.slice('sla.'.length);
  return `longer deadline for ${severity === 'kev' ? 'known exploited' : severity} findings`;
}

export function addPolicyGaps(facts: PackageFacts, restsOn: (loosened: Loosened) => boolean, collector: GapCollector): void {
  const { loosened, changed } = policyHistory(facts);
  const who = (by: Person | null): string => by?.name ?? 'nobody known';
  for (const each of loosened)
    collector.add('policy_loosened', restsOn(each) ? 'major' : 'minor', [], {
      named: `${partWords(each.part)}, by ${who(each.by)} on ${day(each.effectiveFrom)}`,
    });
  for (const { effectiveFrom, by } of changed) collector.add('policy_changed', 'note', [], { named: `by ${who(by)} on ${day(effectiveFrom)}` });
}

export function addApprovalGaps({ policies }: PackageFacts, finals: readonly FinalApproval[], collector: GapCollector): void {
  const approved = finals.filter(({ approval }) => approval.decision === 'approved');
  const independent = approved.filter((final) => final.independent);
  const counted = independent.length > 0 ? independent : approved;
  if (approved.length === 0) collector.add('no_approval', policies.some(({ four_eyes }) => four_eyes) ? 'major' : 'minor');
  if (independent.length === 0) for (const { approval } of approved) collector.add('approver_took_part', 'major', approval.id, { by: approval.by.name });
  if (!counted.some(({ fresh }) => fresh)) for (const { approval } of counted) collector.add('approval_stale', 'major', approval.id);
  for (const { approval } of finals) if (approval.decision === 'rejected') collector.add('rejected', 'major', approval.id, { by: approval.by.name });
}

const DOCUMENTING: ReadonlySet<string> = new Set([...CHANGE_ARTIFACTS, 'change_ticket', 'test_result']);

export function addArtifactGaps({ artifacts, redactions }: PackageFacts, provenance: ProvenanceFacts, collector: GapCollector): void {
  const current = artifacts.filter(({ removed, superseded_by }) => removed === null && superseded_by === null);
  const documents = current.some(({ type, captured, added_by }) => DOCUMENTING.has(type) && (captured || isOther(added_by, provenance)));
  if (!documents) collector.add('no_artifact', 'minor');
  for (const { id, file } of current) if (file === null) collector.add('artifact_not_captured', 'minor', id);
  for (const { id, removed } of artifacts) if (removed !== null) collector.add('artifact_removed', 'minor', id);
  if (redactions.length > 0) collector.add('content_redacted', 'minor', [], { redactions: redactions.length });
}

export function addProofGaps({ timestamped, witnessed, log, work_item, abandoned_leaves }: PackageFacts, collector: GapCollector): void {
  if (!timestamped) collector.add('no_timestamp', 'minor');
  if (witnessed === false) collector.add('witness_missing', 'minor');
  if (log.epoch > 1)
    collector.add('log_restarted', Date.parse(work_item.created_at) < Date.parse(log.started_at) ? 'minor' : 'note', [], { on: day(log.started_at) });
  if (abandoned_leaves.length > 0) collector.add('interrupted_sealing', 'minor', [], { attempts: abandoned_leaves.length });
}
