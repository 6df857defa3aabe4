import { createHash, randomBytes } from 'node:crypto';
import { parseTimestampResponse, timestampRequest } from '@rrs/evidence-format';
import { messageOf } from '../../shared/errors.ts';

export interface TimestampAuthorities {
  urls: readonly string[];
  /** Certificates in PEM with which the service verifies the timestamps. */
  certificates: string;
}

const TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 256 * 1024;

/** Requests an RFC 3161 timestamp of the signature from every authority. Fails unless all of them answer. */
export function requestTimestamps({ urls }: TimestampAuthorities, signature: Uint8Array): Promise<Uint8Array[]> {
  return Promise.all(
    urls.map((url) =>
      requestTimestamp(url, signature).catch((error: unknown) => {
        throw new Error(`The time-stamping authority ${new URL(url).host} did not issue a timestamp: ${messageOf(error)}`, { cause: error });
      }),
    ),
  );
}

async function requestTimestamp(url: string, signature: Uint8Array): Promise<Uint8Array> {
  const nonce = BigInt(`0x${randomBytes(8).toString('hex')}`);
  const imprint = createHash('sha256').update(signature).digest();
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' },
    body: Buffer.from(timestampRequest(imprint, nonce)),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (response.status !== 200) throw new Error(`HTTP status ${response.status}`);
  const bytes = await readLimited(response);
  const { status, token } = parseTimestampResponse(bytes);
  if (token === null) throw new Error(`request refused with status ${status}`);
  if (!imprint.equals(token.tstInfo.imprint.hash)) throw new Error('the timestamp is for a different signature');
  if (token.tstInfo.nonce !== nonce) throw new Error('the timestamp has a different nonce');
  return bytes;
}

async function readLimited(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES) throw new Error(`the response exceeds ${MAX_RESPONSE_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
