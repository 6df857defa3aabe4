import { OutboundFault } from '../../net/faults.ts';
import type { Outbound } from '../../net/request.ts';
import { messageOf } from '../../shared/errors.ts';
import type { CloudEvent } from '../cloud-event.ts';
import { signatureHeaders } from './signature.ts';

const TIMEOUT_MS = 15_000;
const MAX_ANSWER = 64 * 1024;
const KEPT = 1024;
const MAX_RETRY_AFTER = 86_400;

export interface Outcome {
  delivered: boolean;
  status: number | null;
  excerpt: string | null;
  /** In words, for whoever looks after the receiver. */
  error: string | null;
  /** Seconds that the receiver asked for. */
  retryAfter: number | null;
  durationMs: number;
}

export interface Receiver {
  url: string;
  secrets: readonly string[];
}

/** One attempt. It throws only when the signal aborts: then it counts as not made. */
export async function send(outbound: Outbound, { url, secrets }: Receiver, event: CloudEvent, signal?: AbortSignal): Promise<Outcome> {
  const started = performance.now();
  const body = JSON.stringify(event);
  const timestamp = Math.floor(Date.now() / 1000);
  const headers = {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'user-agent': 'rrs-webhooks',
    ...signatureHeaders(secrets, { id: event.id, timestamp, body }),
  };
  const said = (outcome: Omit<Outcome, 'durationMs'>): Outcome => ({ ...outcome, durationMs: Math.round(performance.now() - started) });
  try {
    const answer = await outbound.open({ method: 'POST', url: new URL(url), headers, body, timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER, signal });
    const excerpt = await beginningOf(answer.body);
    const { status } = answer;
    const delivered = status >= 200 && status < 300;
    return said({
      delivered,
      status,
      excerpt,
      error: delivered ? null : wordsFor(status),
      retryAfter: delivered ? null : retryAfterOf(answer.headers['retry-after']),
    });
  } catch (error) {
    signal?.throwIfAborted();
    const reason = error instanceof OutboundFault ? messageOf(error) : `the request could not be sent (${messageOf(error)})`;
    return said({ delivered: false, status: null, excerpt: null, error: `No answer: ${reason}.`, retryAfter: null });
  }
}

/** What the status says, counts; an answer that is long, slow or cut short changes nothing about it. */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      if (size < KEPT) chunks.push(chunk);
      size += chunk.length;
    }
  } catch (error) {
    if (!(error instanceof OutboundFault)) throw error;
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, KEPT)).replaceAll('\u0000', '\ufffd');
}

function wordsFor(status: number): string {
  if (status === 410) return 'The receiver answered 410 Gone: it takes no more events.';
  if (status >= 300 && status < 400)
    return `The receiver answered ${status}, a redirect. Redirects are not followed: give the webhook the address it leads to.`;
  if (status === 401 || status === 403) return `The receiver answered ${status}: it does not accept the signature or the sender. Compare the signing secret.`;
  return `The receiver answered ${status}; anything from 200 to 299 would mean that it has taken the event.`;
}

/** RFC 9110, 10.2.3: seconds, or a date. */
function retryAfterOf(header: string | undefined): number | null {
  if (header === undefined) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.min(Math.max(Math.ceil(seconds), 0), MAX_RETRY_AFTER);
}
