import { type Context, createHttp, defaultLimits, type HttpLimits, type RequestRecord, type Sender, type Settings, type Ticketing } from '@rrs/connectors';
import { type ConnectionRow, openCredentials } from './connections.ts';
import { type Providers, providerOf } from './providers.ts';
import type { KeyRing } from './secrets.ts';

export interface TicketVendors {
  providers: Providers;
  keys: KeyRing;
  sender: Sender;
  limits: HttpLimits;
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Tighter than the limits of a run: one ticket takes few requests, and somebody may be waiting for it. */
export const ticketLimits: HttpLimits = {
  ...defaultLimits,
  requests: 500,
  totalMs: 120_000,
  requestMs: 20_000,
  responseBytes: 16 * 2 ** 20,
  attempts: 3,
  maxWaitMs: 60_000,
};

export interface OpenTicketing {
  connector: Ticketing;
  context: Context;
}

export async function openTicketing(
  vendors: TicketVendors,
  connection: ConnectionRow,
  signal: AbortSignal,
  onRequest: (record: RequestRecord) => void = () => {},
): Promise<OpenTicketing> {
  const connector = providerOf(vendors.providers, connection.provider);
  if (connector.kind !== 'ticketing') throw new Error(`${connector.id} is not a ticketing connector`);
  const settings = { config: connection.config, credentials: await openCredentials(vendors.keys, connection) } as Settings;
  const { sender, limits, wait } = vendors;
  const http = createHttp(connector, settings, { sender, signal, limits, now: Date.now, wait, onRequest });
  return { connector, context: { ...settings, http, signal, startedAt: new Date() } };
}
