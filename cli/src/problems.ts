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
  if (error instanceof RrsError && error.code === 'validation_failed' && error.errors.every((one) => one.in === 'query')) return wrongOptions(error);
  if (error instanceof RrsError && error.status >= 500 && error.requestId) return `${error.message} Request ${error.requestId}.`;
  if (error instanceof RrsError || error instanceof RrsConnectionError || error instanceof Error) return error.message;
  return String(error);
}

/** Options have the names of the query parameters. */
function wrongOptions({ errors }: RrsError): string {
  const listed = errors.map(({ path, detail }) => `--${(path.split('/')[1] ?? '').replaceAll('_', '-')} ${detail}`);
  return `${[...new Set(listed)].join('; ')}.`;
}
