import { type Artifact, type Finding, type Gap, type GapCode, type Scan, weightOf } from '@rrs/evidence-format';
import type { FinalDecision } from './final-decisions.ts';

export interface GapFacts {
  findings: readonly Finding[];
  scans: readonly Scan[];
  artifacts: readonly Artifact[];
  decisions: readonly FinalDecision[];
  unlinked: readonly Unlinked[];
  staleSources: readonly { source: string; last: Date }[];
  /** Number of log entries that interrupted attempts left. */
  abandoned: number;
  timestamped: boolean;
  /** When the log was restarted, if that was after the work item was created. */
  logRestarted: Date | null;
  fourEyes: boolean;
}

/** A finding that was removed from the work item and is not closed. */
export interface Unlinked {
  id: string;
  title: string;
  unlinked_at: Date;
  unlinked_by: string;
  unlink_reason: string | null;
}

const MAX_NAMED = 5;

function describeUnlinked({ title, unlinked_at, unlinked_by, unlink_reason }: Unlinked): string {
  return `"${title}" by ${unlinked_by} on ${unlinked_at.toISOString().slice(0, 10)} (${unlink_reason || 'no reason given'})`;
}

const ACTIVE = new Set(['open', 'in_progress', 'remediated']);

/** Everything that an auditor would ask for and not find. No gap may be left out. */
export function gapsOf(facts: GapFacts): Gap[] {
  const { findings, scans, artifacts, decisions, unlinked, fourEyes } = facts;
  const gaps: Gap[] = [];
  const add = (code: GapCode, what: string, about: readonly string[] = []): void => {
    gaps.push({ code, weight: weightOf(code, { fourEyes }), what, about: [...about] });
  };
  const idsWhere = <T extends { id: string }>(all: readonly T[], holds: (one: T) => boolean): string[] => all.filter(holds).map(({ id }) => id);

  const unfinished = idsWhere(findings, ({ state }) => ACTIVE.has(state));
  if (findings.length === 0) add('no_findings', 'The work item has no findings.');
  if (unfinished.length > 0)
    add('unfinished', `${count(unfinished, 'finding is', 'findings are')} not closed: open, in progress, or remediated but not verified.`, unfinished);
  const unproven = idsWhere(findings, ({ state, after }) => state === 'verified' && after.state !== 'absent');
  if (unproven.length > 0)
    add('no_rescan', `${count(unproven, 'finding was', 'findings were')} verified by a person, but not confirmed as fixed by a later scan.`, unproven);
  const unseen = idsWhere(findings, ({ before }) => before.scan === null);
  if (unseen.length > 0) add('no_scan_before', `${count(unseen, 'finding is', 'findings are')} not in any scan report from before the fix.`, unseen);
  const lost = idsWhere(scans, ({ file }) => file === null);
  if (lost.length > 0) add('scan_not_kept', `${count(lost, 'scan report is', 'scan reports are')} no longer stored.`, lost);

  const unlinkedIds = unlinked.map(({ id }) => id);
  if (unlinked.length > 0) {
    const named = unlinked.slice(0, MAX_NAMED).map(describeUnlinked).join(', ');
    const verb = unlinked.length === 1 ? 'is' : 'are';
    add(
      'unlinked_active',
      `${count(unlinkedIds, 'finding was', 'findings were')} removed from this work item and ${verb} not closed: ${named}${unlinked.length > MAX_NAMED ? ' …' : ''}.`,
      unlinkedIds,
    );
  }

  const rejected = decisions.filter(({ decision }) => decision === 'rejected');
  if (rejected.length > 0) add('rejected', `${rejected.map(({ name }) => name).join(', ')} rejected the work and did not approve it later.`);
  const approved = decisions.filter(({ decision }) => decision === 'approved');
  if (approved.length === 0)
    add('no_approval', fourEyes ? 'Nobody approved the work, although the organization requires a second person to approve it.' : 'Nobody approved the work.');
  else if (!approved.some(({ independent }) => independent)) add('approver_is_author', 'Everyone who approved the work also took part in it.');

  const current = artifacts.filter(({ removed, superseded_by }) => removed === null && superseded_by === null);
  if (current.length === 0) add('no_artifact', 'No artifact documents the fix: no change, no ticket, no test result.');
  const links = idsWhere(current, ({ file }) => file === null);
  if (links.length > 0) add('artifact_not_captured', `${count(links, 'artifact is a link', 'artifacts are links')} whose content was not captured.`, links);
  const removed = idsWhere(artifacts, (artifact) => artifact.removed !== null);
  if (removed.length > 0) add('artifact_removed', `${count(removed, 'artifact was', 'artifacts were')} removed. The list of artifacts says why.`, removed);

  for (const { source, last } of facts.staleSources)
    add('source_stale', `The last scan of these assets by ${source} was on ${last.toISOString().slice(0, 10)}, more than 30 days ago.`);
  if (!facts.timestamped) add('no_timestamp', 'No time-stamping authority confirmed when this package was sealed.');
  if (facts.abandoned > 0) {
    const attempts = facts.abandoned === 1 ? 'attempt to seal this package was' : 'attempts to seal this package were';
    add('interrupted_sealing', `${facts.abandoned} earlier ${attempts} interrupted after an entry in the transparency log was made.`);
  }
  if (facts.logRestarted !== null)
    add('log_restarted', `The transparency log was restarted on ${facts.logRestarted.toISOString().slice(0, 10)}, after the work item was created.`);
  return gaps;
}

function count(ids: readonly string[], one: string, many: string): string {
  return ids.length === 1 ? `One ${one}` : `${ids.length} ${many}`;
}
