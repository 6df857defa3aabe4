import type { Decision, TrailEvent } from '../document/decisions.ts';
import type { Evidence, EvidenceDocument, Facts } from '../document/evidence.ts';
import type { Finding, FindingFacts } from '../document/finding.ts';
import type { Person } from '../document/people.ts';
import { finalApprovals } from './approvals.ts';
import { approvedStateDigest, approvedStateLines, approvedStateOf } from './approved-state.ts';
import { collectChecks } from './checks.ts';
import { concludeFrom, countsOf, gradeOf } from './conclude.ts';
import { controlsOf } from './controls.ts';
import { type Credentials, collectCredentials } from './credentials.ts';
import { collectDecisions } from './decisions/register.ts';
import { dueAt, provenClosedAt, withinSla } from './findings/deadlines.ts';
import { collectEarlierDeadlines } from './findings/earlier-deadlines.ts';
import { collectGaps } from './gaps/collector.ts';
import { collectFailedScans } from './gaps/failed-scans.ts';
import { addFindingGaps } from './gaps/finding-gaps.ts';
import {
  addApprovalGaps,
  addArtifactGaps,
  addPolicyGaps,
  addProofGaps,
  addScanGaps,
  addScopeGaps,
  addStaleSources,
  assetSource,
  type PackageFacts,
} from './gaps/package-gaps.ts';
import { restsOnLoosened } from './gaps/rests-on.ts';
import { collectUnlinked } from './gaps/unlinked.ts';
import { type Identities, identitiesOf } from './identities.ts';
import { provenanceOf } from './provenance.ts';
import { collectSelections } from './selections.ts';
import { scansAfter, standingFacts, standingOf } from './standing.ts';
import { collectWorkers, type Workers } from './workers.ts';

/** Everything that follows from the facts, besides what follows for each finding. */
export type Results = Pick<EvidenceDocument, 'conclusion' | 'completeness' | 'counts' | 'checks' | 'decisions' | 'controls' | 'selections'>;

/** Computes everything that follows from the facts and the audit trail. The service does it to build a package, the verifier to check one. */
export function deriveEvidence(facts: Facts, events: Iterable<TrailEvent>): Evidence {
  const derivation = startDerivation(facts);
  let seq = 0;
  for (const event of events) derivation.addEvent(event, ++seq);
  const rest = derivation.startFindings();
  const findings = facts.findings.map((finding) => rest.add(finding));
  return { ...facts, findings, ...rest.results() };
}

/** The same in one pass, first over the events, then over the findings, so that a reader need not keep either. */
export function startDerivation(facts: PackageFacts) {
  const identities = identitiesOf(facts.people);
  const workers = collectWorkers(identities, facts.work_item.id);
  const credentials = collectCredentials(identities, facts.work_item.created_at);
  const register = collectDecisions({ identities, approvals: facts.approvals });
  const selected = collectSelections(identities, facts.work_item.id);
  const unlinked = collectUnlinked(facts.unlinked);
  const earlier = collectEarlierDeadlines();
  return {
    /** `seq` is the number of the line in the audit trail, starting at 1. */
    addEvent(event: TrailEvent, seq: number): void {
      workers.add(event);
      credentials.add(event);
      register.add(event, seq);
      selected.add(event, seq);
      unlinked.add(event);
      earlier.add(event);
    },
    startFindings: () =>
      deriveFindings(facts, {
        identities,
        workers: workers.workers(facts.work_item.assignee, credentials),
        credentials,
        register,
        selected,
        unlinked,
        earlier,
      }),
  };
}

interface FromTrail {
  identities: Identities;
  workers: Workers;
  credentials: Credentials;
  register: ReturnType<typeof collectDecisions>;
  selected: ReturnType<typeof collectSelections>;
  unlinked: ReturnType<typeof collectUnlinked>;
  earlier: ReturnType<typeof collectEarlierDeadlines>;
}

/** What the results need to know of every finding. */
type Kept = Pick<
  Finding,
  | 'id'
  | 'state'
  | 'standing'
  | 'assurance'
  | 'provenance'
  | 'severity'
  | 'severity_source'
  | 'acceptance'
  | 'justification'
  | 'decided_by'
  | 'contradicted_by'
  | 'merged'
> & { afterScans: string[] };

function deriveFindings(facts: PackageFacts, { identities, workers, credentials, register, selected, unlinked, earlier }: FromTrail) {
  const { as_of: asOf, policies } = facts;
  const scans = new Map(facts.scans.map((scan) => [scan.id, scan]));
  const context = { ...standingFacts(facts), scans, workers, identities, asOf };
  const collector = collectGaps();
  const checks = collectChecks(asOf);
  const rests = restsOnLoosened(facts);
  const failed = collectFailedScans(scans);
  const kept: Kept[] = [];
  const seenBy = new Set<string>();
  const used = new Set<string>();

  function add(known: FindingFacts): Finding {
    const standing = standingOf(known, context);
    const due_at = dueAt(known, policies, asOf);
    const after = known.after.state === 'absent' ? scans.get(known.after.scan ?? '') : undefined;
    const inTime = withinSla(due_at, { closed_at: provenClosedAt(known, after) }, { standing, asOf });
    const within_sla = inTime === true && earlier.wasMissed(known, policies) ? false : inTime;
    const finding: Finding = { ...known, standing, due_at, within_sla, provenance: provenanceOf(known, context) };
    addFindingGaps(finding, context, collector);
    checks.add(finding);
    rests.add(finding);
    failed.add(finding);
    for (const source of finding.sources) seenBy.add(assetSource(finding.asset.id, source));
    const afterScans = finding.after.state === 'absent' ? scansAfter(finding) : [];
    const restsOnScan = finding.state === 'verified' || (finding.state === 'withdrawn' && finding.cause === 'source');
    if (restsOnScan) for (const scan of afterScans) used.add(scan);
    const { id, state, assurance, provenance, severity, severity_source, acceptance, justification, decided_by, contradicted_by, merged } = finding;
    kept.push({
      id,
      state,
      standing,
      assurance,
      provenance,
      severity,
      severity_source,
      acceptance,
      justification,
      decided_by,
      contradicted_by,
      merged,
      afterScans,
    });
    return finding;
  }

  function results(): Results {
    const digest = approvedStateDigest(approvedStateLines(approvedStateOf({ ...facts, findings: kept })));
    const finals = finalApprovals(facts.approvals, { identities, credentials, digest, tookPart: partTaker() });
    if (kept.length === 0) collector.add('no_findings', 'major');
    unlinked.addGaps(collector);
    addScopeGaps(facts, collector);
    addScanGaps(facts, used, context, collector);
    failed.addGaps(collector);
    addStaleSources(facts, seenBy, collector);
    addPolicyGaps(facts, (loosened) => rests.on(loosened, finals), collector);
    addApprovalGaps(facts, finals, collector);
    addArtifactGaps(facts, context, collector);
    addProofGaps(facts, collector);
    const gaps = collector.gaps();
    const counts = countsOf(kept, { unlinked: facts.unlinked.length, artifacts: facts.artifacts.length, scans: facts.scans.length });
    const answers = checks.checks(finals);
    return {
      conclusion: concludeFrom(kept),
      completeness: { grade: gradeOf(gaps), gaps },
      counts,
      checks: answers,
      decisions: decisions(),
      selections: selected.selections(),
      controls: controlsOf({
        frameworks: facts.frameworks,
        counts,
        gaps,
        approvals: facts.approvals.length,
        artifacts: facts.artifacts.filter(({ removed, superseded_by }) => removed === null && superseded_by === null).length,
        events: facts.audit_trail.events,
        beforeScans: facts.scans.filter(({ phase }) => phase === 'before').length,
        afterScans: facts.scans.filter(({ phase }) => phase === 'after').length,
        deadlines: answers.find(({ id }) => id === 'within_deadline')?.of ?? 0,
      }),
    };
  }

  function decisions(): Decision[] {
    const severities = new Map([
      ...facts.unlinked.map(({ id, severity }) => [id, severity] as const),
      ...kept.flatMap(({ merged }) => merged.map(({ id, severity }) => [id, severity] as const)),
      ...kept.map(({ id, severity_source }) => [id, severity_source] as const),
    ]);
    const ofImport = ({ kind, import_id }: Decision): string[] => {
      if (kind === 'brake_confirm') return kept.flatMap(({ id, afterScans }) => (import_id !== null && afterScans.includes(import_id) ? [id] : []));
      return kind === 'import_discard' ? kept.flatMap(({ id, contradicted_by }) => (contradicted_by === import_id ? [id] : [])) : [];
    };
    return register.decisions((id) => severities.get(id), ofImport);
  }

  /** Whether somebody did the work, opened the work item, made a decision in the register, or delivered or confirmed a scan that counts. */
  function partTaker(): (by: Person) => boolean {
    const counted = facts.scans.filter(({ id }) => used.has(id));
    const people = [facts.work_item.created_by, ...counted.flatMap(({ delivery, confirmed }) => [delivery.by, confirmed?.by ?? null])];
    const took = new Set([...people.map((by) => identities.of(by)), ...register.deciders()]);
    const participants = new Set([...took, ...workers.persons]);
    return (by) => {
      const behind = identities.behind(identities.of(by));
      return behind.length === 0 || behind.some((identity) => took.has(identity)) || workers.has(by) || credentials.areShared(by, participants);
    };
  }

  return { add, results };
}
