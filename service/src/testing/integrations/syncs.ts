import { defaultLimits, type HttpLimits } from '@rrs/connectors';
import { type FakeOptions, type FakeVendor, type Fault, serveFake } from '@rrs/connectors/fakes';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Database } from '../../db/database.ts';
import { importHandler, knowledgeChange } from '../../findings/handlers.ts';
import { builtIn } from '../../integrations/connections/providers.ts';
import { openKeyRing } from '../../integrations/connections/secrets.ts';
import { syncHandler } from '../../integrations/handlers.ts';
import type { Collector } from '../../integrations/sync/collect.ts';
import { directReader } from '../findings/reader.ts';
import { startApi, type TestApi } from '../http/api.ts';
import { directCollector } from './collector.ts';

interface RunView {
  id: string;
  status: string;
  mode: string;
  error: { kind: string; message: string } | null;
  counts: Record<string, number>;
  requests: { made: number; failed: number };
  import_id: string | null;
  notes: string[];
  knowledge_as_of: string | null;
}

/** The API with fake vendors. Runs are executed by the test itself, and waiting takes no time. */
export function useSyncs() {
  let api: TestApi;
  const stops: (() => Promise<void>)[] = [];
  const waits: number[] = [];
  beforeAll(async () => {
    api = await startApi({ config: { RRS_OUTBOUND_ALLOW: '127.0.0.0/8', RRS_ENRICHMENT_MIRRORS: '' } });
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    waits.splice(0);
  });
  afterAll(() => api?.close());

  const syncing = (limits: Partial<HttpLimits> = {}, pages = 10_000) => ({
    providers: builtIn,
    keys: openKeyRing(`${api.blobFolder}-keys`),
    blobs: api.blobs,
    follower: api.follower,
    sender: api.outbound,
    collector: directCollector,
    limits: { ...defaultLimits, requestMs: 2_000, ...limits },
    pages,
    wait: async (ms: number, signal: AbortSignal): Promise<void> => {
      signal.throwIfAborted();
      waits.push(ms);
    },
  });
  const quiet = { info: () => {}, error: () => {} };
  /** The worker's job handlers that concern connections. */
  const handlers = (limits: Partial<HttpLimits>) => [syncHandler(syncing(limits)), importHandler(api.blobs, api.follower, directReader)];
  const rescore = (orgId: string): Promise<void> =>
    knowledgeChange(api.follower).run({ org_id: orgId }, { db: api.db, log: quiet, signal: new AbortController().signal, lastAttempt: true });
  const perform = async (
    orgId: string,
    runId: string,
    options: { limits?: Partial<HttpLimits>; pages?: number; signal?: AbortSignal; lastAttempt?: boolean; collector?: Collector; db?: Database } = {},
  ) => {
    const { collector, db = api.db } = options;
    await syncHandler({ ...syncing(options.limits, options.pages), ...(collector ? { collector } : {}) }).run(
      { org_id: orgId, run_id: runId },
      { db, log: quiet, signal: options.signal ?? new AbortController().signal, lastAttempt: options.lastAttempt ?? true },
    );
  };
  /** As the worker does after two workers died while they carried out the run. */
  const abandon = async (orgId: string, runId: string, reason: string): Promise<void> => {
    const context = { db: api.db, log: quiet, signal: new AbortController().signal, lastAttempt: false };
    await syncHandler(syncing()).abandon?.({ org_id: orgId, run_id: runId }, context, reason);
  };
  const fake = async (vendor: FakeVendor, options: Partial<FakeOptions> = {}, fault?: Fault) => {
    const running = await serveFake(vendor, { pageSize: 10, ...options }, fault);
    stops.push(running.close);
    return running;
  };
  const ask = async <T = Record<string, unknown>>(method: string, path: string, { as = api.ours.owner, body }: { as?: string; body?: unknown } = {}) => {
    const answer = await api.call(method, `/api/v1${path}`, { as, ...(body === undefined ? {} : { body }) });
    return { status: answer.status, body: answer.body as T };
  };
  const connect = async (vendor: FakeVendor, origin: string, more: Record<string, unknown> = {}): Promise<string> => {
    const { config, credentials } = vendor.settings(origin);
    const name = `${vendor.id} ${Math.random()}`;
    const { status, body } = await ask<{ id: string }>('POST', '/integrations', {
      body: { provider: vendor.id, name, config, credentials, schedule: null, ...more },
    });
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body.id;
  };
  /** Changes the URL of a connection, which requires the credentials again. */
  const move = async (id: string, vendor: FakeVendor, origin: string): Promise<void> => {
    const { config, credentials } = vendor.settings(origin);
    const { status, body } = await ask('PATCH', `/integrations/${id}`, { body: { config, credentials } });
    if (status !== 200) throw new Error(JSON.stringify(body));
  };
  const queue = async (id: string, full = false): Promise<string> => {
    const { status, body } = await ask<{ id: string }>('POST', `/integrations/${id}/sync${full ? '?full=true' : ''}`);
    if (status !== 202) throw new Error(JSON.stringify(body));
    return body.id;
  };
  const run = (id: string, runId: string) => ask<RunView>('GET', `/integrations/${id}/runs/${runId}`).then(({ body }) => body);
  const sync = async (id: string, options: Parameters<typeof perform>[2] & { full?: boolean } = {}): Promise<RunView> => {
    const runId = await queue(id, options.full);
    await perform(api.ours.id, runId, options);
    return run(id, runId);
  };
  return { api: () => api, waits, syncing, handlers, rescore, perform, abandon, fake, ask, connect, move, queue, run, sync };
}
