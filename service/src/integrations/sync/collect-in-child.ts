import { type Connector, ConnectorError, type FaultKind, type Sender } from '@rrs/connectors';
import { ChildFailure, type ChildLimits } from '../../jobs/children/child.ts';
import { type ChildPool, openChildPool } from '../../jobs/children/child-pool.ts';
import { openSharedChild } from '../../jobs/children/shared-child.ts';
import { createSlots } from '../../jobs/slots.ts';
import { messageOf } from '../../shared/errors.ts';
import type { CheckHost, CheckTask, CollectEnd, CollectHost, Collector, CollectTask } from './collect.ts';

type SentRequest = Parameters<Sender['open']>[0];

/** A request that can be sent to a child process. */
type PlainRequest = Omit<SentRequest, 'url' | 'signal'> & { url: string };
/** `kind` says whether a retry would help. */
export type Failed = { error: string; kind: unknown };
export type Opened = { id: number; status: number; headers: Readonly<Record<string, string | string[] | undefined>> } | Failed;
/** Null at the end of the body. */
export type Chunk = { bytes: Uint8Array | null } | Failed;

/** What a child asks of this process. */
export interface RemoteHost extends Omit<CollectHost, 'sender' | 'wait' | 'onRequest'> {
  open(request: PlainRequest): Promise<Opened>;
  next(id: number): Promise<Chunk>;
  close(id: number): Promise<void>;
  wait(ms: number): Promise<void>;
  onRequest(record: Parameters<CollectHost['onRequest']>[0]): Promise<void>;
}

export type HostQuestion = { [Call in keyof RemoteHost]: { call: Call; given: Parameters<RemoteHost[Call]> } }[keyof RemoteHost];
export type ChildCollectTask = { provider: string } & ({ collect: CollectTask } | { check: CheckTask });
/** An error of the vendor is a result, so that its kind is not lost. */
export type ChildCollectResult = { done: CollectEnd | null } | { fault: { kind: FaultKind; message: string; status: number | null } };

/** A response is at most 64 MiB, and its objects are a few times as large in memory. */
const LIMITS: ChildLimits = { heapMb: 768, stepMs: 60_000, timeMs: 60 * 60_000 };
const IDLE_MS = 30_000;
const ALONE = { running: 2, waiting: Number.POSITIVE_INFINITY, refusal: '' };
const CHECKS = { running: 2, waiting: 20, refusal: 'Too many connections are being tested.' };

export function openCollectors(limits: ChildLimits = LIMITS) {
  const module = new URL('./collect-child.ts', import.meta.url);
  const open = (slots: Parameters<typeof createSlots>[0]): ChildPool => openChildPool({ module, limits, slots: createSlots(slots), idleMs: IDLE_MS });
  return { shared: openSharedChild({ module, limits, idleMs: IDLE_MS }), alone: open(ALONE), checks: open(CHECKS) };
}

const collectors = openCollectors();

/**
 * Runs connectors in child processes: a vendor, or whoever controls it, can send a response that is made to exhaust memory or time. Runs share one process,
 * because they mostly wait for their vendors. If it fails, they are tried again by their jobs, each in a process of its own, which shows whose vendor it was.
 */
export function childCollector({ shared, alone, checks }: ReturnType<typeof openCollectors> = collectors): Collector {
  return {
    async collect(connector, task, host, signal) {
      const given = { provider: connector.id, collect: task };
      const done = task.isRetry ? await run(alone, given, host, signal).catch(explain(connector)) : await run(shared, given, host, signal);
      if (done === null) throw new Error(`${connector.id} returned no result`);
      return done;
    },
    async check(connector, task, host, signal) {
      await run(checks, { provider: connector.id, check: task }, host, signal).catch(explain(connector));
    },
  };
}

/** A response that exhausts a limit would do so again. A child that ended for another reason is tried again with the job. */
function explain({ name }: Connector) {
  return (error: unknown): never => {
    if (!(error instanceof ChildFailure) || error.reason === 'crash') throw error;
    const message = `Reading the responses of ${name} ${error.message}, so the run was stopped. Limit the connection to less data.`;
    throw new ConnectorError('invalid_answer', message, { cause: error });
  };
}

async function run(pool: ChildPool, task: ChildCollectTask, host: CheckHost & Partial<CollectHost>, signal: AbortSignal) {
  const bodies = remoteBodies(host.sender, signal);
  const calls: Partial<RemoteHost> = {
    ...host,
    ...bodies,
    wait: (ms) => host.wait(ms, signal),
    onRequest: async (record) => host.onRequest(record),
  };
  const answer = ({ call, given }: HostQuestion): Promise<unknown> => (calls[call] as (...given: unknown[]) => Promise<unknown>)(...given);
  try {
    const result = (await pool.run<HostQuestion>(task, { answer, signal })) as ChildCollectResult;
    if ('done' in result) return result.done;
    const { kind, message, status } = result.fault;
    throw new ConnectorError(kind, message, status === null ? {} : { status });
  } finally {
    await bodies.closeAll();
  }
}

/** Sends requests for a child process, and hands over the bodies of the responses piece by piece. */
function remoteBodies(sender: Sender, signal: AbortSignal) {
  const open = new Map<number, AsyncIterator<Uint8Array>>();
  let opened = 0;
  const failed = (error: unknown): Failed => {
    signal.throwIfAborted();
    return { error: messageOf(error), kind: error instanceof Error && 'kind' in error ? error.kind : null };
  };
  const close = async (id: number): Promise<void> => {
    const body = open.get(id);
    open.delete(id);
    await body?.return?.().catch(() => {});
  };
  return {
    async open({ url, ...request }: PlainRequest): Promise<Opened> {
      try {
        const { status, headers, body } = await sender.open({ ...request, url: new URL(url), signal });
        const id = ++opened;
        open.set(id, body[Symbol.asyncIterator]());
        return { id, status, headers: { ...headers } };
      } catch (error) {
        return failed(error);
      }
    },
    async next(id: number): Promise<Chunk> {
      try {
        const { done, value } = (await open.get(id)?.next()) ?? { done: true, value: undefined };
        if (done) open.delete(id);
        return { bytes: done || value === undefined ? null : value };
      } catch (error) {
        open.delete(id);
        return failed(error);
      }
    },
    close,
    async closeAll(): Promise<void> {
      for (const id of [...open.keys()]) await close(id);
    },
  };
}
