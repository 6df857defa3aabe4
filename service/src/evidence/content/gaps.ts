import { type Artifact, type Finding, type Gap, type GapCode, type Scan, weightOf } from '@rrs/evidence-format';
import type { LastWord } from './final-decisions.ts';

export interface GapFacts {
  findings: readonly Finding[];
  scans: readonly Scan[];
  artifacts: readonly Artifact[];
  /** The last word of each. */
  approvals: readonly LastWord[];
  unlinked: readonly Unlinked[];
  staleSources: readonly { source: string; last: Date }[];
  abandoned: number;
  stamped: boolean;
  fourEyes: boolean;
}

export interface Unlinked {
  id: string;
  title: string;
  unlinked_at: Date;
  unlinked_by: string;
  unlink_reason: string | null;
}

const SHOWN = 5;

function whoUnlinked({ title, unlinked_at, unlinked_by, unlink_reason }: Unlinked): string {
  return `"${title}" by ${unlinked_by} on ${unlinked_at.toISOString().slice(0, 10)}${unlink_reason ? ` (${unlink_reason})` : ', without a reason'}`;
}

const ACTIVE = new Set(['open', 'in_progress', 'remediated']);

/** What an auditor would ask for and not find. Nothing is left out silently. */
export function gapsOf(facts: GapFacts): Gap[] {
  const { findings, scans, artifacts, approvals, fourEyes } = facts;
  const gaps: Gap[] = [];
  const add = (code: GapCode, what: string, about: readonly string[] = []): void => {
    gaps.push({ code, weight: weightOf(code, { fourEyes }), what, about: [...about] });
  };
  const idsWhere = <T extends { id: string }>(all: readonly T[], holds: (one: T) => boolean): string[] => all.filter(holds).map(({ id }) => id);

  const unfinished = idsWhere(findings, ({ state }) => ACTIVE.has(state));
  if (findings.length === 0) add('no_findings', 'The work item has no findings.');
  if (unfinished.length > 0) add('unfinished', `${count(unfinished, 'finding')} not closed: open, in progress, or claimed and not verified.`, unfinished);
  const unproven = idsWhere(findings, ({ state, after }) => state === 'verified' && after.state !== 'absent');
  if (unproven.length > 0) add('no_rescan', `${count(unproven, 'finding')} verified by a person, and no scan since then shows it gone.`, unproven);
  const unseen = idsWhere(findings, ({ before }) => before.scan === null);
  if (unseen.length > 0) add('no_scan_before', `${count(unseen, 'finding')} not shown by any scan report before the fix.`, unseen);
  const lost = idsWhere(scans, ({ file }) => file === null);
  if (lost.length > 0) add('scan_not_kept', `${count(lost, 'scan report')} no longer stored.`, lost);

  const { unlinked } = facts;
  if (unlinked.length > 0)
    add(
      'unlinked_active',
      `${unlinked.length === 1 ? 'One finding was' : `${unlinked.length} findings were`} taken off this work item and not closed since: ${unlinked.slice(0, SHOWN).map(whoUnlinked).join('; ')}${unlinked.length > SHOWN ? ' …' : ''}.`,
      unlinked.map(({ id }) => id),
    );

  const rejected = approvals.filter(({ decision }) => decision === 'rejected');
  if (rejected.length > 0) add('rejected', `${rejected.map(({ actor_name }) => actor_name).join(', ')} rejected the work and did not approve it since.`);
  const approved = approvals.filter(({ decision }) => decision === 'approved');
  if (approved.length === 0)
    add('no_approval', fourEyes ? 'Nobody approved the work, though the organization demands four eyes.' : 'Nobody approved the work.');
  else if (!approved.some(({ independent }) => independent)) add('approver_is_author', 'Everybody who approved the work also had a part in it.');

  const live = artifacts.filter(({ removed, superseded_by }) => removed === null && superseded_by === null);
  if (live.length === 0) add('no_artifact', 'Nothing but scans is attached: no change, no ticket, no test.');
  const links = idsWhere(live, ({ file }) => file === null);
  if (links.length > 0) add('artifact_not_captured', `${count(links, 'artifact')} only a link whose content was not captured.`, links);
  const removed = idsWhere(artifacts, (artifact) => artifact.removed !== null);
  if (removed.length > 0) add('artifact_removed', `${count(removed, 'artifact')} removed; the tombstone is in the list.`, removed);

  for (const { source, last } of facts.staleSources)
    add('source_stale', `The last scan of ${source} on these assets is of ${last.toISOString().slice(0, 10)}, more than 30 days ago.`);
  if (!facts.stamped) add('no_timestamp', 'No time-stamping authority confirmed the time of this package.');
  if (facts.abandoned > 0)
    add(
      'interrupted_sealing',
      `${facts.abandoned} earlier ${facts.abandoned === 1 ? 'attempt' : 'attempts'} to seal this package left an entry in the log and no package.`,
    );
  return gaps;
}

function count(ids: readonly string[], what: string): string {
  return ids.length === 1 ? `One ${what} is` : `${ids.length} ${what}s are`;
}
