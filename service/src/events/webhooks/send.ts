import { OutboundFault } from '../../net/faults.ts';
import type { Outbound } from '../../net/request.ts';
import { messageOf } from '../../shared/errors.ts';
import type { CloudEvent } from '../cloud-event.ts';
import { signatureHeaders } from './signature.ts';

const TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
const EXCERPT_BYTES = 1024;
const MAX_RETRY_AFTER = 86_400;

export interface Outcome {
  delivered: boolean;
  status: number | null;
  excerpt: string | null;
  /** Why the attempt failed, for the operator of the receiver. */
  error: string | null;
  /** Seconds from the `Retry-After` header. */
  retryAfter: number | null;
  durationMs: number;
}

export interface Receiver {
  url: string;
  secrets: readonly string[];
}

/** Makes one attempt. It throws only if the signal aborts. The attempt then does not count. */
export async function send(outbound: Outbound, { url, secrets }: Receiver, event: CloudEvent, signal?: AbortSignal): Promise<Outcome> {
  const started = performance.now();
  const body = JSON.stringify(event);
  const timestamp = Math.floor(Date.now() / 1000);
  const headers = {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'user-agent': 'rrs-webhooks',
    ...signatureHeaders(secrets, { id: event.id, timestamp, body }),
  };
  const timed = (outcome: Omit<Outcome, 'durationMs'>): Outcome => ({ ...outcome, durationMs: Math.round(performance.now() - started) });
  try {
    const response = await outbound.open({ method: 'POST', url: new URL(url), headers, body, timeoutMs: TIMEOUT_MS, maxBytes: MAX_RESPONSE_BYTES, signal });
    const excerpt = await excerptOf(response.body);
    const { status } = response;
    const delivered = status >= 200 && status < 300;
    return timed({
      delivered,
      status,
      excerpt,
      error: delivered ? null : explain(status),
      retryAfter: delivered ? null : retryAfterOf(response.headers['retry-after']),
    });
  } catch (error) {
    signal?.throwIfAborted();
    const reason = error instanceof OutboundFault ? messageOf(error) : `the request could not be sent (${messageOf(error)})`;
    return timed({ delivered: false, status: null, excerpt: null, error: `No response: ${reason}.`, retryAfter: null });
  }
}

/** Only the status decides about success. A response that is too long, slow or cut short does not change the outcome. */
async function excerptOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      if (size < EXCERPT_BYTES) chunks.push(chunk);
      size += chunk.length;
    }
  } catch (error) {
    if (!(error instanceof OutboundFault)) throw error;
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, EXCERPT_BYTES)).replaceAll('\u0000', '\ufffd');
}

function explain(status: number): string {
  if (status === 410) return 'The receiver responded with 410 Gone and accepts no more events.';
  if (status >= 300 && status < 400)
    return `The receiver responded with ${status}, a redirect. Redirects are not followed. Set the URL of the webhook to the target of the redirect.`;
  if (status === 401 || status === 403)
    return `The receiver responded with ${status}. It rejected the signature or the sender. Check that it uses the current signing secret.`;
  return `The receiver responded with ${status}. Only a status from 200 to 299 accepts the event.`;
}

/** RFC 9110, section 10.2.3: a number of seconds or a date. */
function retryAfterOf(header: string | undefined): number | null {
  if (header === undefined) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.min(Math.max(Math.ceil(seconds), 0), MAX_RETRY_AFTER);
}
