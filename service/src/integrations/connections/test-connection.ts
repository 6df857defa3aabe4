import { type Connector, ConnectorError, createHttp, defaultLimits, type FaultKind, type RequestRecord, type Sender, type Settings } from '@rrs/connectors';

export interface Tried {
  ok: boolean;
  error: { kind: FaultKind; message: string } | null;
  requests: RequestRecord[];
  seconds: number;
}

const TRY_MS = 20_000;

/** One cheap question to the vendor, without the patience that a run has. */
export async function tryConnection(sender: Sender, connector: Connector, settings: Settings): Promise<Tried> {
  const started = performance.now();
  const requests: RequestRecord[] = [];
  const signal = AbortSignal.timeout(TRY_MS);
  const limits = { ...defaultLimits, requestMs: 10_000, attempts: 1, requests: 20 };
  const wait = async (): Promise<void> => signal.throwIfAborted();
  const http = createHttp(connector, settings, { sender, signal, limits, now: Date.now, wait, onRequest: (record) => requests.push(record) });
  const told = (error: Tried['error']): Tried => ({ ok: error === null, error, requests, seconds: Math.round(performance.now() - started) / 1000 });
  try {
    await connector.check({ ...settings, http, signal, startedAt: new Date() });
    return told(null);
  } catch (error) {
    if (error instanceof ConnectorError) return told({ kind: error.kind, message: error.message });
    if (signal.aborted) return told({ kind: 'unavailable', message: `No answer within ${TRY_MS / 1000} seconds.` });
    throw error;
  }
}
