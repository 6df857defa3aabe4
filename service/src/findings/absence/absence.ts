import type { About, LookedFor, RunFacts } from '@rrs/scan-reports';

/** What may be concluded if a run does not report a finding. */
export interface Absence {
  /** Whether the report lists everything on the assets it covers, and no record was rejected. */
  complete: boolean;
  /** Files and folders that the tool did not read. */
  unread: readonly string[];
  /** Checks that were skipped in a file or on a site, or everywhere if the path is null. */
  skipped: readonly { rule: string; path: string | null }[];
  /** All checks that were enabled. Null if the report does not list them. */
  checks: readonly string[] | null;
  /** All files that the tool read. Null if the report does not list them. */
  files: readonly string[] | null;
  /** What else the report states about what the tool looked for. */
  facts: Pick<RunFacts, 'looked_for' | 'left_out' | 'hidden_in' | 'restrictions' | 'ports' | 'components'>;
  /** Kinds of findings that the tool looked for according to the scope, and not according to the report. */
  searchStated: readonly string[];
  /** Whether the scope says which part of the repository was scanned, or that all of it was. */
  isPartStated: boolean;
  /** The lock files that the report names, if the scope says that all of the repository was scanned. Null if it does not say so. */
  wholeStated: readonly string[] | null;
  toolVersion: string | null;
  /** Whether the report or its scope says when the scan took place. */
  isTimeStated: boolean;
  /**
   * Whether the run names all assets that its source has, so that one it leaves out is no longer there. A report file is believed only about assets of
   * earlier reports that had mostly the same assets: the same tool can be run on another part of the network.
   */
  lists: 'all_assets' | 'similar_assets' | 'own_assets';
  /** If a run would close more findings of its source than `count` and more than `share` of them, the closures wait for confirmation. */
  brake: { share: number; count: number };
  /** Whether the report has no records at all. */
  isEmpty: boolean;
}

/** An empty file in a format that many tools write. */
const NO_TOOL =
  'the report does not name the tool that wrote it, so it does not say whose findings are gone. Name the tool in it, as the generic format and SARIF do. For GitHub, export the alerts of all states instead of only the open ones, or use a connection';

/** Reasons not to treat a report as complete although its scope declares it so. */
export function doubtsOf(about: About | null, { rejected }: { rejected: number }, isScan: boolean): string[] {
  return [
    ...(isScan ? [] : ['an export or a VEX document lists what is known, and what it leaves out may still be there. Only a scan can prove a fix']),
    ...(rejected > 0 ? ['the report was not complete because records were rejected'] : []),
    ...(about?.tools?.length === 0 ? [NO_TOOL] : []),
    ...(about?.finished === false ? ['according to the report, the scan did not succeed or the file does not have all of its results'] : []),
  ];
}

/** Why a finding that a complete run does not report stays open. */
export const blockers = {
  partially_covered: 'the run covered the asset only in part',
  track_unstated: 'the name of the build does not tell which branch or release line it belongs to. Set `track` in `scan_scope`',
  asset_unspecified: 'the report is about an unspecified asset',
  time_unstated: 'the report does not say when the scan took place. Set `started_at` in `scan_scope`',
  time_suspect: 'the time that the report states cannot be right',
  inventory_only: 'the report is an inventory without a list of vulnerabilities',
  not_read:
    'the tool did not read the file, or read too few files to tell that it was removed. If all of the repository was scanned, set `path` in `scan_scope` to `.`',
  not_credentialed: 'the run had no working credentials, and only runs with credentials have seen the finding',
  knowledge_older: 'the vulnerability database of the run is older than that of the run that saw the finding',
  check_disabled: 'the check was not enabled, or was skipped there',
  hidden_by_comment: 'comments in the code tell the tool to leave out findings, and this one may be among them',
  only_new: 'the report has only what is new since a baseline. Send a report of all results, or set `looked_for` in `scan_scope` to `known` if this is one',
  suppressed_before:
    'the tool was told to ignore the finding, and the report may leave out what is ignored. Send a report with such findings, or set `looked_for` in `scan_scope` to `suppressed` if it has all of them',
  platform_other: 'another platform of the image may still have it',
  address_other: 'the scan was of another address of the host, which can be another machine with the same name',
  part_other:
    'the report may be about another lock file, or of a run that read none. Set `path` in `scan_scope`, which is `.` if it is about the whole repository',
  seen_since: 'a scan that ended after this one began, or took place later and does not count as complete, may have shown the finding',
  version_older: 'a higher version of the same release line was scanned before',
  scan_narrower:
    'the run leaves out findings of this kind, does not show that it looked for them, or reports none although there were many. It may have been restricted. If the tool looked for secrets, misconfigurations or licenses, set `looked_for` in `scan_scope`',
} as const;
export type Blocker = keyof typeof blockers;

/** Kinds of findings that the tool left out, or of which neither the report nor its scope says that it looked for them. */
export function unlooked({ facts: { left_out = [] }, searchStated }: Absence): LookedFor[] {
  return left_out.filter((kind) => !searchStated.includes(kind));
}

/** What the report of a run does not state about all of it, for older reports that arrive later. `search` has the kinds that only the scope says were looked for. */
export function unstatedBy(absence: Absence) {
  const { isTimeStated, checks, searchStated, wholeStated } = absence;
  return { time: !isTimeStated, checks: checks === null, search: searchStated, whole: wholeStated, suppressed: unlooked(absence).includes('suppressed') };
}

/** What weakens the proof that a finding is gone, mostly because the scan that closed it does not state it. It closes the finding all the same, and evidence names it. */
export const gaps = {
  identity_weak: 'Only its address tells that the scanned host is the one that had the finding.',
  time_unstated: 'The report does not say when the scan took place, so the time of its upload counts.',
  credentials_unstated: 'The report does not say whether the tool could log in.',
  knowledge_unstated: 'The report does not state the date of the vulnerability database.',
  checks_unstated: 'The report does not list the checks that were enabled.',
  search_unstated: 'The report does not show that the tool looked for findings of this kind. Whoever uploaded it says so.',
  part_unstated: 'The report does not name the file of the finding. Whoever uploaded it says that all of the repository was scanned.',
  source_retired: 'The source was retired while it still saw the finding. Only others can show that it is gone.',
} as const;
export type Gap = keyof typeof gaps;

export function isGap(code: string): code is Gap {
  return code in gaps;
}

export function isBlocker(code: string): code is Blocker {
  return code in blockers;
}
