import type { Artifact, Conclusion, Finding, FindingState, Gap, GapCode, Grade, Person, Severity, WorkItem } from '@rrs/evidence-format';

/** The words of the readable reports. Colour only repeats what words say. */
export type Tone = 'good' | 'warn' | 'bad' | 'neutral';

export const stateWords: Readonly<Record<FindingState, { label: string; tone: Tone }>> = {
  open: { label: 'Open', tone: 'bad' },
  in_progress: { label: 'In progress', tone: 'bad' },
  remediated: { label: 'Claimed, not proven', tone: 'warn' },
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
  declared: 'stated by a person',
  artifact: 'stated, with an artifact',
  scan_only: 'no longer seen by a scan',
  scan_after_claim: 'no longer seen by a scan after the claim',
  independent: 'confirmed independently',
};

export const gradeWords: Readonly<Record<Grade, string>> = {
  A: 'Complete: nothing is missing.',
  B: 'Minor gaps only.',
  C: 'One kind of major gap.',
  D: 'Two or more kinds of major gaps.',
};

/** Why each kind of gap matters, beside the sentence that says where it is. */
export const gapWords: Readonly<Record<GapCode, { label: string; why: string }>> = {
  unfinished: { label: 'Unfinished', why: 'Work is still open or only claimed, so nothing proves that the weakness is gone.' },
  no_findings: { label: 'No findings', why: 'Without a finding there is nothing that could have been remediated.' },
  unlinked_active: { label: 'Taken off and still open', why: 'What was found with the rest is not fixed, and the conclusion does not speak of it.' },
  no_rescan: { label: 'No scan after the fix', why: 'A person says that it is fixed; no scan after the claim confirms it.' },
  no_scan_before: { label: 'No scan before the fix', why: 'No report shows the weakness as it was found.' },
  scan_not_kept: { label: 'Scan report not kept', why: 'The scan is known, but its report can no longer be read.' },
  no_approval: { label: 'No approval', why: 'Nobody confirmed the outcome.' },
  approver_is_author: { label: 'Approved by its author', why: 'Whoever approved it had a part in the work, so no second person looked at it.' },
  rejected: { label: 'Rejected', why: 'Somebody looked at the work, found it wanting, and has not said otherwise since.' },
  no_artifact: { label: 'No artifact', why: 'Nothing beside scans documents the change.' },
  artifact_not_captured: { label: 'Link not captured', why: 'What stands behind the link can change, and is not covered by the signature.' },
  artifact_removed: { label: 'Artifact removed', why: 'Its content is gone; that it was there, and its hash, remain.' },
  source_stale: { label: 'Old scan', why: 'The last scan of a source is too old to speak for the time of the package.' },
  no_timestamp: { label: 'No trusted timestamp', why: 'When the package was sealed is known from the log of the organization only.' },
  interrupted_sealing: { label: 'Interrupted sealing', why: 'The log has an entry of an earlier attempt that became no package.' },
};

export function verdictOf(status: Conclusion, active: number): { headline: string; sentence: string; tone: Tone } {
  switch (status) {
    case 'remediated':
      return { headline: 'Remediated', sentence: 'Every finding of this work item is verified as fixed.', tone: 'good' };
    case 'partially_remediated':
      return active > 0
        ? { headline: 'NOT fully remediated', sentence: 'Part of the work is verified, and part of it is still open.', tone: 'bad' }
        : { headline: 'Partially remediated', sentence: 'What was to be fixed is verified; the rest is excepted, not fixed.', tone: 'warn' };
    case 'risk_accepted':
      return {
        headline: 'Risk accepted, NOT remediated',
        sentence: 'The weakness is still there. A named owner accepts its risk for a limited time.',
        tone: 'warn',
      };
    case 'false_positive':
      return { headline: 'False positive', sentence: 'No finding applies here, for the reasons that are given.', tone: 'neutral' };
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

/** An identifier in lower snake case as words. */
export const plain = (identifier: string): string => {
  const words = identifier.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Times are UTC already: they are cut, never converted. */
export const day = (time: string): string => time.slice(0, 10);
export const clock = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 16)}`;
export const minute = (time: string): string => `${clock(time)} UTC`;

export const count = (number: number, one: string, many = `${one}s`): string => `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`;

export function bytes(size: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(size, 1)) / 10));
  return `${power === 0 ? size : (size / 1024 ** power).toFixed(1)} ${units[power]}`;
}

export function artifactState({ removed, file, url }: Pick<Artifact, 'removed' | 'file' | 'url'>): { label: string; tone: Tone } {
  if (removed !== null) return { label: 'Removed', tone: 'warn' };
  if (file !== null) return { label: 'In this package', tone: 'good' };
  return url === null ? { label: 'Not in this package', tone: 'warn' } : { label: 'Link only, content not captured', tone: 'warn' };
}
