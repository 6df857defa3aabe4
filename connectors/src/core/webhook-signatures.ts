import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { type Obj, obj } from '@rrs/scan-reports/read.ts';
import { Type } from 'typebox';
import type { InboundMessage } from './contract.ts';
import { Secret } from './settings/fields.ts';

/** Verification of the webhook requests that vendors send. */

/** `link` is the vendor's page about its webhooks. */
export function WebhookSecret(description: string, link: string) {
  return Type.Optional(Secret('Webhook secret', description, { link, 'x-group': 'webhook' }));
}

export function hmac(secret: string | Buffer, content: string | Buffer, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', secret).update(content).digest(encoding);
}

/** Compares hashes in constant time, so that the duration reveals neither the content nor its length. */
export function isEqual(given: string | undefined, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return given !== undefined && timingSafeEqual(digest(given), digest(expected));
}

/** The header contains `sha256=<hex>`, the HMAC of the body, as in WebSub. */
export function isSigned({ headers, body }: InboundMessage, header: string, secret: string | undefined): boolean {
  return secret !== undefined && isEqual(headers[header]?.toLowerCase(), `sha256=${hmac(secret, body, 'hex')}`);
}

/** Standard Webhooks: id, timestamp and body are signed. A message is valid for five minutes and may have several signatures. */
export function isStandardSigned({ headers, body }: InboundMessage, secret: string): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (!id || !timestamp || !signatures || !isRecent(Number(timestamp) * 1000)) return false;
  const expected = hmac(Buffer.from(secret.replace(/^whsec_/, ''), 'base64'), Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]), 'base64');
  return signatures.split(' ').some((signature) => isEqual(signature, `v1,${expected}`));
}

export function isRecent(ms: number): boolean {
  return Math.abs(Date.now() - ms) <= 300_000;
}

/** The JSON object in the body. Empty if the body is not a JSON object. */
export function jsonBody({ body }: InboundMessage): Obj {
  try {
    return obj(JSON.parse(body.toString()));
  } catch {
    return {};
  }
}
