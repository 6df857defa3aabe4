import { RrsConnectionError, RrsError } from '@rrs/client';
import { EXIT, UsageError } from './command.ts';

const MISTAKES = ['malformed_request', 'validation_failed', 'invalid_cursor', 'not_found'];
const REFUSALS = ['conflict', 'invalid_transition', 'unprocessable', 'stale_version', 'gone', 'payload_too_large'];

/** The exit status for what went wrong. */
export function statusOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  const code = error instanceof RrsError ? error.code : null;
  if (code !== null && MISTAKES.includes(code)) return EXIT.usage;
  return code !== null && REFUSALS.includes(code) ? EXIT.failed : EXIT.service;
}

/** What went wrong, in one line. */
export function messageOf(error: unknown): string {
  if (error instanceof RrsError && error.code === 'unauthenticated') return `${error.message} Run "rrs login", or check RRS_API_KEY.`;
  if (error instanceof RrsError && error.code === 'validation_failed' && error.errors.length > 0) {
    if (error.errors.every(isId)) return `The id ${error.errors[0]?.detail}. The lists of the program show ids.`;
    return wrongOptions(error) ?? error.message;
  }
  if (error instanceof RrsError && error.status >= 500 && error.requestId) return `${error.message} Request ${error.requestId}.`;
  if (error instanceof RrsError || error instanceof RrsConnectionError || error instanceof Error) return error.message;
  return String(error);
}

/** Whether the wrong field is an id that was given as an argument. */
const isId = ({ in: part, path }: RrsError['errors'][number]): boolean => part === 'path' || path.startsWith('/finding_ids/');

/** The fields of the API that have other names as options. */
const RENAMED: Readonly<Record<string, string>> = {
  version: 'asset-version',
  started_at: 'scanned-at',
  ended_tracks: 'ended-track',
  looked_for: 'looked-for',
  due_at: 'due',
  expires_at: 'expires',
  expires_in_hours: 'hours',
  owner: 'accepted-by',
  tags: 'tag',
};
/** The fields of bodies that are options. Others are arguments, or made by the program. */
const BODY_OPTIONS = [
  'assignee',
  'comment',
  'compensating_control',
  'description',
  'due_at',
  'expires_at',
  'expires_in_hours',
  'external_ref',
  'justification',
  'max_downloads',
  'note',
  'owner',
  'priority',
  'reason',
  'recipient',
  'status',
  'tags',
  'title',
];
/** The fields of a change of findings, which have other names than those of work items. */
const CHANGE_OPTIONS: Readonly<Record<string, string>> = {
  status: 'to',
  severity: 'to-severity',
  add_tags: 'add-tag',
  remove_tags: 'remove-tag',
  work_item_id: 'add-to',
};

/** The option that a field of the API is, if it is one. */
function optionOf({ in: part, path }: RrsError['errors'][number]): string | null {
  const [, first = '', second] = path.split('/');
  if (part === 'query') return first === 'scan_scope' && second !== undefined ? nameOf(second) : first.replaceAll('_', '-');
  if (part !== 'body') return null;
  if (first === 'change' && second !== undefined) return CHANGE_OPTIONS[second] ?? nameOf(second);
  return BODY_OPTIONS.includes(first) ? nameOf(first) : null;
}

const nameOf = (field: string): string => RENAMED[field] ?? field.replaceAll('_', '-');

/** What is wrong, in the words of the command line. Null if it is not about options alone. */
function wrongOptions({ errors }: RrsError): string | null {
  const listed = errors.map((error) => [optionOf(error), error.detail] as const);
  // A detail that is a sentence of its own names the field itself.
  if (listed.some(([option, detail]) => option === null || !/^[a-z]/.test(detail))) return null;
  return `${[...new Set(listed.map(([option, detail]) => `--${option} ${detail}`))].join('; ')}.`;
}
