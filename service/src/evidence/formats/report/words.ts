import type { Artifact, Conclusion, Finding, FindingState, Gap, GapCode, Grade, Person, Severity, WorkItem } from '@rrs/evidence-format';

/** The wording of the PDF and HTML reports. Colour only repeats what the words say. */
export type Tone = 'good' | 'warn' | 'bad' | 'neutral';

export const stateWords: Readonly<Record<FindingState, { label: string; tone: Tone }>> = {
  open: { label: 'Open', tone: 'bad' },
  in_progress: { label: 'In progress', tone: 'bad' },
  remediated: { label: 'Unverified claim', tone: 'warn' },
  verified: { label: 'Verified fixed', tone: 'good' },
  risk_accepted: { label: 'Risk accepted', tone: 'warn' },
  false_positive: { label: 'False positive', tone: 'neutral' },
  withdrawn: { label: 'Withdrawn', tone: 'neutral' },
};

export const severityWords: Readonly<Record<Severity, { label: string; tone: Tone }>> = {
  critical: { label: 'Critical', tone: 'bad' },
  high: { label: 'High', tone: 'bad' },
  medium: { label: 'Medium', tone: 'warn' },
  low: { label: 'Low', tone: 'neutral' },
  info: { label: 'Info', tone: 'neutral' },
  unknown: { label: 'Unknown', tone: 'neutral' },
};

export const assuranceWords: Readonly<Record<NonNullable<Finding['assurance']>, string>> = {
  declared: 'claimed by a person',
  artifact: 'claimed, with an artifact',
  scan_only: 'absent from a later scan',
  scan_after_claim: 'absent from a scan after the claim',
  independent: 'confirmed independently',
};

export const gradeWords: Readonly<Record<Grade, string>> = {
  A: 'Complete: nothing is missing.',
  B: 'Minor gaps only.',
  C: 'One kind of major gap.',
  D: 'Two or more kinds of major gaps.',
};

/** A label for each kind of gap and why it matters. The gap itself says what is missing. */
export const gapWords: Readonly<Record<GapCode, { label: string; why: string }>> = {
  unfinished: { label: 'Unfinished', why: 'The work is open or only claimed as done. Nothing proves that the weakness is gone.' },
  no_findings: { label: 'No findings', why: 'Without findings, the package cannot show that anything was remediated.' },
  unlinked_active: { label: 'Removed and still open', why: 'These findings are not fixed, and the conclusion does not cover them.' },
  no_rescan: { label: 'No scan after the fix', why: 'A person stated that it is fixed. No later scan confirms it.' },
  no_scan_before: { label: 'No scan before the fix', why: 'No scan report shows the weakness as it was found.' },
  scan_not_kept: { label: 'Scan report not stored', why: 'The scan is known, but its report can no longer be examined.' },
  no_approval: { label: 'No approval', why: 'Nobody confirmed the outcome.' },
  approver_is_author: { label: 'No independent approval', why: 'Everyone who approved the work also took part in it.' },
  rejected: { label: 'Rejected', why: 'A reviewer rejected the work and has not approved it since.' },
  no_artifact: { label: 'No artifact', why: 'Only scans document the change.' },
  artifact_not_captured: { label: 'Link not captured', why: 'The content behind the link can change and is not covered by the signature.' },
  artifact_removed: { label: 'Artifact removed', why: 'The content is not in the package. Its metadata and hash remain.' },
  source_stale: { label: 'Outdated scan', why: 'The last scan of a source is too old to show the state at the time of the package.' },
  no_timestamp: { label: 'No trusted timestamp', why: "The time of sealing is known only from the organization's own log." },
  log_restarted: { label: 'Log restarted', why: 'Entries that were made before the restart can only be compared with checkpoints that somebody else kept.' },
  interrupted_sealing: { label: 'Interrupted sealing', why: 'The transparency log has an entry of an earlier attempt that did not produce a package.' },
};

export function verdictOf(status: Conclusion, active: number): { headline: string; sentence: string; tone: Tone } {
  switch (status) {
    case 'remediated':
      return { headline: 'Remediated', sentence: 'Every finding of this work item is verified as fixed.', tone: 'good' };
    case 'partially_remediated':
      return active > 0
        ? { headline: 'NOT fully remediated', sentence: 'Some findings are verified as fixed. Others are still open.', tone: 'bad' }
        : { headline: 'Partially remediated', sentence: 'Some findings are verified as fixed. The others are exceptions and are not fixed.', tone: 'warn' };
    case 'risk_accepted':
      return {
        headline: 'Risk accepted, NOT remediated',
        sentence: 'The weakness still exists. A named owner accepts the risk for a limited time.',
        tone: 'warn',
      };
    case 'false_positive':
      return { headline: 'False positive', sentence: 'None of the findings applies, for the reasons given.', tone: 'neutral' };
    case 'not_remediated':
      return { headline: 'NOT remediated', sentence: 'This package does not show that the weakness is gone.', tone: 'bad' };
  }
}

export const weightTone: Readonly<Record<Gap['weight'], Tone>> = { major: 'bad', minor: 'warn' };

const workItemStatuses: Readonly<Record<WorkItem['status'], string>> = {
  open: 'Open',
  in_progress: 'In progress',
  blocked: 'Blocked',
  awaiting_verification: 'Awaiting verification',
  verified: 'Verified',
  closed_with_exceptions: 'Closed with exceptions',
  cancelled: 'Cancelled',
};
export const workItemStatus = (status: WorkItem['status']): string => workItemStatuses[status];

const personKinds: Readonly<Record<Person['kind'], string>> = { member: '', api_key: ' (API key)', connection: ' (connection)', system: ' (service)' };
export const personWords = ({ kind, name }: Person): string => `${name}${personKinds[kind]}`;

/** Turns an identifier in snake case into words. */
export const humanize = (identifier: string): string => {
  const words = identifier.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Times are already in UTC, so they are shortened and never converted. */
export const day = (time: string): string => time.slice(0, 10);
export const dateTime = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 16)}`;
export const dateTimeUtc = (time: string): string => `${dateTime(time)} UTC`;

export const count = (number: number, one: string, many = `${one}s`): string => `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`;

export function fileSize(size: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(size, 1)) / 10));
  return `${power === 0 ? size : (size / 1024 ** power).toFixed(1)} ${units[power]}`;
}

export function artifactState({ removed, file, url }: Pick<Artifact, 'removed' | 'file' | 'url'>): { label: string; tone: Tone } {
  if (removed !== null) return { label: 'Removed', tone: 'warn' };
  if (file !== null) return { label: 'In this package', tone: 'good' };
  return url === null ? { label: 'Not in this package', tone: 'warn' } : { label: 'Link only, content not captured', tone: 'warn' };
}
