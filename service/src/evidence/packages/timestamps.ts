import { createHash, randomBytes } from 'node:crypto';
import { parseTimestampResponse, timestampRequest } from '@rrs/evidence-format';
import { messageOf } from '../../shared/errors.ts';

export interface TimestampAuthorities {
  urls: readonly string[];
  /** PEM: what the service itself holds their answers against. */
  certificates: string;
}

const TIMEOUT_MS = 15_000;
const LONGEST_ANSWER = 256 * 1024;

/** RFC 3161: each authority confirms that the signature was there at its time. All must answer, so that a package has what it claims. */
export function stampSignature({ urls }: TimestampAuthorities, signature: Uint8Array): Promise<Uint8Array[]> {
  return Promise.all(
    urls.map((url) =>
      stamp(url, signature).catch((error: unknown) => {
        throw new Error(`The time-stamping authority ${new URL(url).host} gave no time stamp: ${messageOf(error)}`, { cause: error });
      }),
    ),
  );
}

async function stamp(url: string, signature: Uint8Array): Promise<Uint8Array> {
  const nonce = BigInt(`0x${randomBytes(8).toString('hex')}`);
  const imprint = createHash('sha256').update(signature).digest();
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' },
    body: Buffer.from(timestampRequest(imprint, nonce)),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (answer.status !== 200) throw new Error(`it answered ${answer.status}`);
  const bytes = await limited(answer);
  const { status, token } = parseTimestampResponse(bytes);
  if (token === null) throw new Error(`it refused with status ${status}`);
  if (!imprint.equals(token.tstInfo.imprint.hash)) throw new Error('its answer is for other bytes');
  if (token.tstInfo.nonce !== nonce) throw new Error('its answer is to another question');
  return bytes;
}

async function limited(answer: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > LONGEST_ANSWER) throw new Error('its answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
