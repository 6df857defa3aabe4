import type { Evidence } from '../../../document/evidence.ts';
import type { Finding } from '../../../document/finding.ts';
import type { Artifact } from '../../../document/originals.ts';
import type { Person, PersonFacts } from '../../../document/people.ts';
import type { Provenance, Scan } from '../../../document/scan.ts';
import type { Severity } from '../../../document/states.ts';
import type { Tone } from '../dispositions.ts';

export const SEVERITY_WORDS: Readonly<Record<Severity, { label: string; tone: Tone }>> = {
  critical: { label: 'Critical', tone: 'bad' },
  high: { label: 'High', tone: 'bad' },
  medium: { label: 'Medium', tone: 'warn' },
  low: { label: 'Low', tone: 'neutral' },
  info: { label: 'Info', tone: 'neutral' },
  unknown: { label: 'Unknown', tone: 'neutral' },
};

export const ASSURANCE_WORDS: Readonly<Record<NonNullable<Finding['assurance']>, string>> = {
  declared: 'Claimed by a person',
  artifact: 'Claimed, with an artifact',
  scan_only: 'Absent from a later scan',
  scan_after_claim: 'Absent from a scan after the claim',
  independent: 'Confirmed by a second person',
};

export const PROVENANCE_WORDS: Readonly<Record<Provenance, { label: string; tone: Tone }>> = {
  connection: { label: 'Fetched by a connection', tone: 'good' },
  pipeline: { label: 'Sent by a trusted pipeline', tone: 'good' },
  other_person: { label: 'Uploaded by somebody else', tone: 'warn' },
  worker: { label: 'Delivered by a participant', tone: 'bad' },
};

export const PHASE_WORDS: Readonly<Record<Scan['phase'], string>> = { before: 'Before the fix', after: 'After the fix', other: 'Other scan' };

export const SCAN_STATUS_WORDS: Readonly<Record<Scan['status'], { label: string; tone: Tone }>> = {
  succeeded: { label: 'Imported', tone: 'good' },
  failed: { label: 'Import failed', tone: 'bad' },
  discarded: { label: 'Discarded by a person', tone: 'bad' },
  needs_confirmation: { label: 'Held back, not confirmed', tone: 'warn' },
};

export const VERDICT_WORDS: Readonly<Record<Evidence['controls'][number]['verdict'], { label: string; tone: Tone }>> = {
  supports: { label: 'Supports', tone: 'good' },
  does_not_support: { label: 'Does not support', tone: 'bad' },
  not_addressed: { label: 'Not addressed', tone: 'neutral' },
};

const WORK_ITEM_STATUS = {
  open: 'Open',
  in_progress: 'In progress',
  blocked: 'Blocked',
  awaiting_verification: 'Awaiting verification',
  verified: 'Verified',
  closed_with_exceptions: 'Closed with exceptions',
  cancelled: 'Cancelled',
} as const satisfies Record<Evidence['work_item']['status'], string>;
export const workItemStatus = (status: Evidence['work_item']['status']): string => WORK_ITEM_STATUS[status];

const PERSON_KINDS: Readonly<Record<Person['kind'], string>> = { member: '', api_key: ' (API key)', connection: ' (connection)', system: ' (service)' };
export const personWords = ({ kind, name }: Pick<Person, 'kind' | 'name'>): string => `${name}${PERSON_KINDS[kind]}`;

const SIGN_IN: Readonly<Record<NonNullable<PersonFacts['signs_in_with']>, string>> = { password: 'password', sso: 'single sign-on', api_key: 'API key' };

/** `analyst, signed in with a password`. */
export function roleWords(facts: PersonFacts | undefined): string {
  if (facts === undefined) return 'no person known behind it';
  const role = facts.role ?? 'no role at the time of the package';
  return facts.signs_in_with === null ? role : `${role}, signs in with ${SIGN_IN[facts.signs_in_with]}`;
}

export function artifactState({ removed, file, url }: Pick<Artifact, 'removed' | 'file' | 'url'>): { label: string; tone: Tone } {
  if (removed !== null) return { label: 'Removed', tone: 'warn' };
  if (file !== null) return { label: 'In this package', tone: 'good' };
  return url === null ? { label: 'Not in this package', tone: 'warn' } : { label: 'Link only, content not captured', tone: 'warn' };
}
