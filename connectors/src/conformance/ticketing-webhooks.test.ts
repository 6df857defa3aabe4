import { describe, expect, it } from 'vitest';
import type { InboundMessage, Settings, Ticketing } from '../core/contract.ts';
import { fakes } from '../fake-registry.ts';
import { connectors } from '../registry.ts';
import type { FakeVendor } from '../testing/fake-server.ts';

const ticketings = connectors.filter((connector): connector is Ticketing => connector.kind === 'ticketing');
const cases = ticketings.map((ticketing) => [ticketing.id, ticketing, fakes.find(({ id }) => id === ticketing.id) as FakeVendor] as const);

/** A message that contains the secret itself authenticates the sender, but not the content. */
function containsSecret({ headers }: InboundMessage, secret: string): boolean {
  const decoded = (value: string): string => Buffer.from(value.replace(/^Basic /, ''), 'base64').toString();
  return Object.values(headers).some((value = '') => value.includes(secret) || decoded(value).includes(secret));
}

/** The names of the headers that authenticate the vendor. */
function authenticationHeaders({ headers }: InboundMessage): string[] {
  return Object.keys(headers).filter((name) => /signature|token|authorization/.test(name));
}

describe.each(cases)('webhook requests of %s', (_, ticketing, vendor) => {
  const settings = vendor.settings('https://vendor.example');
  const { webhook_secret: secret = '' } = settings.credentials as Record<string, string>;
  const withSecret = (webhook_secret: string | undefined) => ({ ...settings, credentials: { ...settings.credentials, webhook_secret } }) as Settings;
  const received = (message: InboundMessage, given = settings) => ticketing.inbound?.(given, message);
  const sent = (id: string | null): InboundMessage => {
    if (!vendor.inbound) throw new Error('every fake ticketing vendor sends webhook requests');
    return vendor.inbound(settings, id);
  };
  const message = sent('10007');

  it('name the ticket', () => {
    expect(received(message)).toEqual({ ticket: '10007' });
    expect(received(sent('10008'))).toEqual({ ticket: '10008' });
  });

  it('may be valid without being about a ticket', () => {
    expect(received(sent(null))).toEqual({ ticket: null });
    expect(received(sent(null), withSecret('another secret'))).toBeNull();
    expect(received({ ...sent(null), headers: {} })).toBeNull();
  });

  it('are refused without a secret or with a wrong one', () => {
    expect(received(message, withSecret(undefined))).toBeNull();
    expect(received(message, withSecret('another secret'))).toBeNull();
    expect(received({ ...message, headers: {} })).toBeNull();
  });

  it('are refused if the authentication header was changed', () => {
    expect(authenticationHeaders(message)).toHaveLength(1);
    for (const name of authenticationHeaders(message)) {
      const value = message.headers[name] ?? '';
      const tampered = [`${value.slice(0, -2)}${value.endsWith('00') ? '11' : '00'}`, value.slice(0, -1), `${value}AAAA`, ''];
      for (const other of tampered) expect(received({ ...message, headers: { ...message.headers, [name]: other } }), other).toBeNull();
    }
  });

  it('are refused if the header of one request comes with the body of another', () => {
    const replayed = { headers: message.headers, body: sent('10008').body };
    const longer = { headers: message.headers, body: Buffer.concat([message.body, Buffer.from(' ')]) };
    expect([received(replayed), received(longer)]).toEqual(containsSecret(message, secret) ? [{ ticket: '10008' }, { ticket: '10007' }] : [null, null]);
  });

  it('name no ticket if the body has none', () => {
    const nothing = containsSecret(message, secret) ? { ticket: null } : null;
    for (const body of ['', '[]', '{"a":', 'null', '{"issue":7}']) expect(received({ ...message, body: Buffer.from(body) })).toEqual(nothing);
  });
});

it('only Azure DevOps authenticates webhooks with a password instead of a signature', () => {
  const bySecret = cases.filter(([, , vendor]) => {
    const settings = vendor.settings('https://vendor.example');
    const message = vendor.inbound?.(settings, '1');
    return message && containsSecret(message, String((settings.credentials as Record<string, string>).webhook_secret));
  });
  expect(bySecret.map(([id]) => id)).toEqual(['azure_devops']);
});
