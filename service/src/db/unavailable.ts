import { errorCodeOf, messageOf } from '../shared/errors.ts';

const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);
const CLIENT_MESSAGES = /Connection terminated|timeout exceeded when trying to connect|not queryable|connection error/i;

/** The database is away, starting, stopping or out of resources: the same request may succeed later. */
export function isUnavailable(error: unknown): boolean {
  const code = errorCodeOf(error) ?? '';
  return NETWORK.has(code) || /^(08|53|57P|58)/.test(code) || code === '25006' || CLIENT_MESSAGES.test(messageOf(error));
}
