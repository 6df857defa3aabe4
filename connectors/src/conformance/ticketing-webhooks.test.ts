import { describe, expect, it } from 'vitest';
import type { InboundMessage, Settings, Ticketing } from '../core/contract.ts';
import { fakes } from '../fake-registry.ts';
import { connectors } from '../registry.ts';
import type { FakeVendor } from '../testing/fake-server.ts';

const ticketings = connectors.filter((connector): connector is Ticketing => connector.kind === 'ticketing');
const cases = ticketings.map((ticketing) => [ticketing.id, ticketing, fakes.find(({ id }) => id === ticketing.id) as FakeVendor] as const);

/** A message that carries the secret itself proves who sends it, not what. */
function carries({ headers }: InboundMessage, secret: string): boolean {
  const decoded = (value: string): string => Buffer.from(value.replace(/^Basic /, ''), 'base64').toString();
  return Object.values(headers).some((value = '') => value.includes(secret) || decoded(value).includes(secret));
}

/** Headers by which a vendor proves that it is the one. */
function proofs({ headers }: InboundMessage): string[] {
  return Object.keys(headers).filter((name) => /signature|token|authorization/.test(name));
}

describe.each(cases)('what %s sends', (_, ticketing, vendor) => {
  const settings = vendor.settings('https://vendor.example');
  const { webhook_secret: secret = '' } = settings.credentials as Record<string, string>;
  const withSecret = (webhook_secret: string | undefined) => ({ ...settings, credentials: { ...settings.credentials, webhook_secret } }) as unknown as Settings;
  const heard = (message: InboundMessage, given = settings) => ticketing.inbound?.(given, message);
  const sent = (id: string | null): InboundMessage => {
    if (!vendor.inbound) throw new Error('every ticketing vendor can tell that a ticket changed');
    return vendor.inbound(settings, id);
  };
  const message = sent('10007');

  it('names the ticket', () => {
    expect(heard(message)).toEqual({ ticket: '10007' });
    expect(heard(sent('10008'))).toEqual({ ticket: '10008' });
  });

  it('may be about no ticket, and is genuine all the same', () => {
    expect(heard(sent(null))).toEqual({ ticket: null });
    expect(heard(sent(null), withSecret('another secret'))).toBeNull();
    expect(heard({ ...sent(null), headers: {} })).toBeNull();
  });

  it('counts for nothing without the secret, or with another', () => {
    expect(heard(message, withSecret(undefined))).toBeNull();
    expect(heard(message, withSecret('another secret'))).toBeNull();
    expect(heard({ ...message, headers: {} })).toBeNull();
  });

  it('counts for nothing with a proof that was tampered with', () => {
    expect(proofs(message)).toHaveLength(1);
    for (const name of proofs(message)) {
      const value = message.headers[name] ?? '';
      const tampered = [`${value.slice(0, -2)}${value.endsWith('00') ? '11' : '00'}`, value.slice(0, -1), `${value}AAAA`, ''];
      for (const other of tampered) expect(heard({ ...message, headers: { ...message.headers, [name]: other } }), other).toBeNull();
    }
  });

  it('counts for nothing when the proof of one message comes with the body of another', () => {
    const replayed = { headers: message.headers, body: sent('10008').body };
    const longer = { headers: message.headers, body: Buffer.concat([message.body, Buffer.from(' ')]) };
    expect([heard(replayed), heard(longer)]).toEqual(carries(message, secret) ? [{ ticket: '10008' }, { ticket: '10007' }] : [null, null]);
  });

  it('names no ticket when it says nothing', () => {
    const nothing = carries(message, secret) ? { ticket: null } : null;
    for (const body of ['', '[]', '{"a":', 'null', '{"issue":7}']) expect(heard({ ...message, body: Buffer.from(body) })).toEqual(nothing);
  });
});

it('proves its content, of all vendors but those that can only send a password', () => {
  const bySecret = cases.filter(([, , vendor]) => {
    const settings = vendor.settings('https://vendor.example');
    const message = vendor.inbound?.(settings, '1');
    return message && carries(message, String((settings.credentials as Record<string, string>).webhook_secret));
  });
  expect(bySecret.map(([id]) => id)).toEqual(['azure_devops']);
});
