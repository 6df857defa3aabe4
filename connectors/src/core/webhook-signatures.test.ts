import { describe, expect, it } from 'vitest';
import { hmac, isEqual, isSigned, isStandardSigned, jsonBody } from './webhook-signatures.ts';

const body = Buffer.from('{"issue":{"id":"1"}}');

describe('isSigned', () => {
  const signed = { headers: { 'x-hub-signature': `sha256=${hmac('secret', body, 'hex')}` }, body };

  it('accepts only the matching body, secret and header', () => {
    expect(isSigned(signed, 'x-hub-signature', 'secret')).toBe(true);
    expect(isSigned({ ...signed, headers: { 'x-hub-signature': signed.headers['x-hub-signature'].toUpperCase() } }, 'x-hub-signature', 'secret')).toBe(true);
    expect(isSigned(signed, 'x-hub-signature', 'other')).toBe(false);
    expect(isSigned(signed, 'x-hub-signature-256', 'secret')).toBe(false);
    expect(isSigned(signed, 'x-hub-signature', undefined)).toBe(false);
    expect(isSigned({ ...signed, body: Buffer.from('{"issue":{"id":"2"}}') }, 'x-hub-signature', 'secret')).toBe(false);
    expect(isSigned({ headers: { 'x-hub-signature': hmac('secret', body, 'hex') }, body }, 'x-hub-signature', 'secret')).toBe(false);
  });

  it('uses the HMAC of RFC 4231', () => {
    expect(hmac('Jefe', 'what do ya want for nothing?', 'hex')).toBe('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843');
  });
});

describe('isStandardSigned', () => {
  const key = Buffer.from('a secret of thirty-two bytes....');
  const secret = `whsec_${key.toString('base64')}`;
  const sent = (at: number, id = 'msg_1') => {
    const timestamp = String(Math.floor(at / 1000));
    return {
      headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${hmac(key, `${id}.${timestamp}.${body}`, 'base64')}` },
      body,
    };
  };

  it('verifies the id, the timestamp and the body', () => {
    const message = sent(Date.now());
    expect(isStandardSigned(message, secret)).toBe(true);
    expect(isStandardSigned({ ...message, headers: { ...message.headers, 'webhook-id': 'msg_2' } }, secret)).toBe(false);
    expect(isStandardSigned({ ...message, headers: { ...message.headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1000) + 1) } }, secret)).toBe(
      false,
    );
    expect(isStandardSigned({ ...message, body: Buffer.from('{}') }, secret)).toBe(false);
    expect(isStandardSigned(message, `whsec_${Buffer.from('another').toString('base64')}`)).toBe(false);
  });

  it('accepts several signatures and messages of up to five minutes', () => {
    const message = sent(Date.now());
    const rotated = { ...message.headers, 'webhook-signature': `v1a,xyz v1,AAAA ${message.headers['webhook-signature']}` };
    expect(isStandardSigned({ ...message, headers: rotated }, secret)).toBe(true);
    expect(isStandardSigned(sent(Date.now() - 290_000), secret)).toBe(true);
    expect(isStandardSigned(sent(Date.now() - 310_000), secret)).toBe(false);
    expect(isStandardSigned(sent(Date.now() + 310_000), secret)).toBe(false);
    expect(isStandardSigned({ ...message, headers: { ...message.headers, 'webhook-timestamp': 'now' } }, secret)).toBe(false);
  });
});

it('isEqual compares strings of any length', () => {
  expect(isEqual('secret', 'secret')).toBe(true);
  expect(isEqual('secre', 'secret')).toBe(false);
  expect(isEqual('', 'secret')).toBe(false);
  expect(isEqual(undefined, '')).toBe(false);
});

it('jsonBody is empty if the body is not a JSON object', () => {
  for (const text of ['', 'x', '[1]', 'null', '7']) expect(jsonBody({ headers: {}, body: Buffer.from(text) })).toEqual({});
});
