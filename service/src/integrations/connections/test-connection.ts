import { type Connector, ConnectorError, defaultLimits, type RequestRecord, type Sender, type Settings } from '@rrs/connectors';
import type { Static } from 'typebox';
import type { TestResult } from '../schemas.ts';
import { childCollector } from '../sync/collect-in-child.ts';

const TIMEOUT_MS = 20_000;
const collector = childCollector();

/** Sends the connector's check request once, without the retries of a run. */
export async function testConnection(sender: Sender, connector: Connector, settings: Settings): Promise<Static<typeof TestResult>> {
  const started = performance.now();
  const requests: RequestRecord[] = [];
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const limits = { ...defaultLimits, requestMs: 10_000, attempts: 1, requests: 20 };
  const wait = async (): Promise<void> => signal.throwIfAborted();
  const onRequest = (record: RequestRecord): void => void requests.push(record);
  const result = (error: Static<typeof TestResult>['error']) => ({
    ok: error === null,
    error,
    requests,
    seconds: Math.round(performance.now() - started) / 1000,
  });
  try {
    await collector.check(connector, { settings, limits, now: Date.now() }, { sender, wait, onRequest }, signal);
    return result(null);
  } catch (error) {
    if (error instanceof ConnectorError) return result({ kind: error.kind, message: error.message });
    if (signal.aborted) return result({ kind: 'unavailable', message: `No response within ${TIMEOUT_MS / 1000} seconds.` });
    throw error;
  }
}
