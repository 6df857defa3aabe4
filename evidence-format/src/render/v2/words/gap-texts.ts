import type { GapCode } from '../../../document/evidence.ts';
import { always, byWeightOf, type GapText, naming, on, some } from './gap-phrases.ts';
import { count, grouped } from './numbers.ts';
import { SCAN_GAPS } from './scan-gap-texts.ts';

export const GAPS: Readonly<Record<GapCode, GapText>> = {
  no_findings: {
    label: 'No findings',
    what: always('No findings are linked to the work item'),
    why: 'Without findings, the package cannot show that anything was remediated.',
  },
  unfinished: {
    label: 'Unfinished',
    what: some('finding is open, in progress, or closed without proof of a fix', 'findings are open, in progress, or closed without proof of a fix'),
    why: 'Nothing shows that the weakness is gone.',
  },
  unlinked_active: {
    label: 'Removed and still open',
    what: naming('named', some('finding was removed from the work item and is still open', 'findings were removed from the work item and are still open')),
    why: 'These findings are not fixed, and the conclusion does not cover them.',
  },
  unlinked_excepted: {
    label: 'Removed and closed by a decision',
    what: naming(
      'named',
      some(
        'finding was removed from the work item and closed by a decision, not by a fix',
        'findings were removed from the work item and closed by a decision, not by a fix',
      ),
    ),
    why: 'The conclusion does not cover exceptions that were moved out of the work item.',
  },
  other_open_on_asset: {
    label: 'Other findings on the same assets',
    what: byWeightOf(
      naming('alike', always('Findings with a CVE of this work item, or as severe in the same report, are open on the same assets and not in the work item')),
      naming('open', always('Other findings are open on the same assets and not in the work item')),
    ),
    why: 'The work item covers only part of what is open on these assets.',
  },
  withdrawn_by_person: {
    label: 'Closed by a person without a fix',
    what: naming('by', some('finding was withdrawn, retired, merged or ended by a person', 'findings were withdrawn, retired, merged or ended by a person')),
    why: 'A person removed the finding from view. Nothing shows that the weakness is gone.',
  },
  asset_gone: {
    label: 'Asset gone',
    what: some('finding was closed because its source no longer lists the asset', 'findings were closed because their source no longer lists the asset'),
    why: 'Nothing shows whether the asset was fixed, replaced or only hidden from the scanner.',
  },
  withdrawn_by_source: {
    label: 'Withdrawn by the source',
    what: some('finding was withdrawn by its source', 'findings were withdrawn by their source'),
    why: 'The source took the finding back, so it counts neither as fixed nor as open.',
  },
  exception_self_decided: {
    label: 'Exception decided by a participant',
    what: naming('by', some('exception was decided by somebody who did the work', 'exceptions were decided by somebody who did the work')),
    why: 'The person who decided had an interest in closing the work.',
  },
  exception_without_end: {
    label: 'Exception without an end',
    what: some('exception has no end', 'exceptions have no end'),
    why: 'An exception without an end is never reviewed.',
  },
  exception_expired: {
    label: 'Exception expired',
    what: some('exception had expired when the package was made', 'exceptions had expired when the package was made'),
    why: 'Nobody accepts the risk any more.',
  },
  suppressed_in_tool: {
    label: 'Ignored by the scanner',
    what: some(
      'finding is still there, but the tools that see it were told to ignore it',
      'findings are still there, but the tools that see them were told to ignore them',
    ),
    why: 'Whoever configures the tool can decide so, and no decision is recorded here.',
  },
  ...SCAN_GAPS,
  severity_lowered: {
    label: 'Severity lowered',
    what: naming('named', some('finding was rated lower by a person', 'findings were rated lower by a person')),
    why: 'Deadlines in this report follow the highest severity that a source stated.',
  },
  sla_missed: {
    label: 'Deadline missed',
    what: some('finding was not closed by its deadline', 'findings were not closed by their deadline'),
    why: 'The policy of the organization sets the deadline.',
  },
  kev_past_due: {
    label: 'Known exploited and overdue',
    what: some(
      'finding that is known to be exploited was not closed by its deadline',
      'findings that are known to be exploited were not closed by their deadline',
    ),
    why: 'Attackers use this weakness.',
  },
  clock_reset: {
    label: 'Deadline restarted',
    what: some('finding was reopened, and its deadline started again', 'findings were reopened, and their deadlines started again'),
    why: 'The weakness existed for longer than the deadline suggests.',
  },
  policy_loosened: {
    label: 'Policy loosened',
    what: naming('named', always('The policy was loosened while findings were open')),
    why: 'Deadlines are judged by the strictest policy. An outcome can still rest on the looser rule.',
  },
  policy_changed: {
    label: 'Policy changed',
    what: naming('named', always('The policy was changed while findings were open')),
    why: 'The section on policy shows each version.',
  },
  no_approval: {
    label: 'No approval',
    what: byWeightOf(always('Nobody approved the work, although the organization required a second person to approve it'), always('Nobody approved the work')),
    why: 'No second person confirmed the outcome.',
  },
  approval_stale: {
    label: 'Changed after approval',
    what: some('approval is of a different state of the work item', 'approvals are of a different state of the work item'),
    why: 'Something changed after the approval, so it does not cover what this package shows.',
  },
  approver_took_part: {
    label: 'Approver took part',
    what: naming('by', always('Everybody who approved the work also took part in it, or used a key that belongs to nobody')),
    why: 'The approval is not independent.',
  },
  rejected: {
    label: 'Rejected',
    what: naming('by', always('The work was rejected and not approved later')),
    why: 'A reviewer disagrees with the outcome.',
  },
  no_artifact: {
    label: 'No artifact of the change',
    what: always('No change, ticket or test result documents the fix, apart from links and files that the people who did the work added themselves'),
    why: 'Only scans and statements of participants document the change.',
  },
  artifact_not_captured: {
    label: 'Link not captured',
    what: some('artifact is a link whose content was not captured', 'artifacts are links whose content was not captured'),
    why: 'The content behind a link can change and is not covered by the signature.',
  },
  artifact_removed: {
    label: 'Artifact removed',
    what: some('artifact was removed', 'artifacts were removed'),
    why: 'The content is not in the package. Its metadata and hash remain, and the list of artifacts has the reason.',
  },
  content_redacted: {
    label: 'Content redacted',
    what: ({ values }) =>
      `${typeof values.redactions === 'number' ? count(values.redactions, 'value') : 'Values'} in original files ${values.redactions === 1 ? 'was' : 'were'} redacted`,
    why: 'The file differs from what the service received.',
  },
  no_timestamp: {
    label: 'No trusted timestamp',
    what: always('No time-stamping authority confirmed when the package was sealed'),
    why: "The time of sealing rests on the organization's own clock and log.",
  },
  witness_missing: {
    label: 'Witness missing',
    what: always('No witness signed the checkpoint of the transparency log, although witnesses are configured'),
    why: 'Only the organization confirms that the log was not rewritten.',
  },
  log_restarted: {
    label: 'Log restarted',
    what: (gap) => `The transparency log was restarted${on(gap)}, ${gap.weight === 'note' ? 'before' : 'after'} the work item was created`,
    why: 'Entries from before the restart can be compared only with checkpoints that somebody else kept.',
  },
  interrupted_sealing: {
    label: 'Interrupted sealing',
    what: ({ values }) =>
      `${typeof values.attempts === 'number' && values.attempts > 1 ? `${grouped(values.attempts)} earlier attempts` : 'An earlier attempt'} to seal this package left an entry in the transparency log`,
    why: 'The log has an entry without a package.',
  },
};
