import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { newSecret, signatureHeaders } from './signature.ts';

const body = JSON.stringify({ specversion: '1.0', data: { text: 'Ελλάδα' } });
const signed = () => ({ id: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11', timestamp: Math.floor(Date.now() / 1000), body });

describe('a signature', () => {
  it('is accepted by the Standard Webhooks library', () => {
    const secret = newSecret();
    expect(new Webhook(secret).verify(body, signatureHeaders([secret], signed()))).toEqual(JSON.parse(body));
  });

  it('with two secrets can be verified with each of them, and no other', () => {
    const secrets = [newSecret(), newSecret()];
    const headers = signatureHeaders(secrets, signed());
    for (const secret of secrets) expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
    expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow();
    expect(() => new Webhook(secrets[0] as string).verify(`${body} `, headers)).toThrow();
  });

  it('expires after a few minutes', () => {
    const secret = newSecret();
    const headers = signatureHeaders([secret], { ...signed(), timestamp: Math.floor(Date.now() / 1000) - 600 });
    expect(() => new Webhook(secret).verify(body, headers)).toThrow(/old/);
  });
});
