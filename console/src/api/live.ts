import { type OperationName, RrsError, type RrsEvent } from '@rrs/client';
import { useSyncExternalStore } from 'react';
import { api, queries } from './client.ts';

/** Event types and what they make out of date. A type matches if it begins with the name. */
const stale: readonly (readonly [type: string, operations: readonly OperationName[]])[] = [
  ['finding.', ['getFinding', 'listFindingHistory', 'listFindingComments', 'getFindingStats', 'getFindingFacets', 'getWorkItem']],
  ['import.', ['getImport', 'listImports', 'getFindingStats']],
  ['asset.', ['getAsset', 'listAssets']],
  ['organization.', ['getOrganization', 'getMe']],
  ['member.', ['listMembers', 'getMe']],
  ['session.', ['listOwnSessions']],
  ['api_key.', ['listApiKeys']],
  ['pipeline_trust.', ['listPipelineTrusts']],
  ['webhook.', ['listWebhooks', 'getWebhook']],
  ['source.', ['listSources']],
  ['alias.', ['listVulnerabilityAliases']],
  ['sync.', ['listConnections', 'getConnection', 'listRuns', 'getRun', 'getIntegrationHealth']],
  ['integration.', ['listConnections', 'getConnection', 'getIntegrationHealth']],
  ['connection.', ['listConnections', 'getConnection', 'getIntegrationHealth']],
  ['work_item.', ['getWorkItem', 'listWorkItems', 'listWorkItemTimeline', 'listWorkItemFindings', 'listWorkItemComments', 'getWorkItemState']],
  ['artifact.', ['listArtifacts', 'getWorkItemState']],
  ['ticket.', ['getWorkItem', 'listDriftedTickets', 'listWorkItemTimeline']],
  // Reading a package is an event too: it must not lead to reading it again.
  ['package.viewed', []],
  ['package.downloaded', ['listShareLinks', 'getEvidenceStats']],
  ['package.verified', ['getEvidenceStats']],
  ['package.share', ['listShareLinks']],
  ['package.', ['getEvidencePackage', 'listEvidencePackages', 'listWorkItemEvidencePackages', 'getEvidenceStats']],
];

/** Lists whose rows never move by themselves: they only learn that something changed. */
const counted: Readonly<Record<string, string>> = {
  'finding.': 'listFindings',
  'import.': 'listFindings',
  'work_item.': 'listWorkItems',
  'package.requested': 'listEvidencePackages',
  'package.ready': 'listEvidencePackages',
  'package.failed': 'listEvidencePackages',
  'package.superseded': 'listEvidencePackages',
};

const CHANNEL = 'rrs-events';
const QUESTION = 'is there a stream?';
const TOGETHER_MS = 1000;
/** Without a stream, everything that is on the screen is asked for again now and then. */
const POLL_MS = 30_000;

interface Message {
  types: string[];
  /** Findings that changed, by id. */
  findings: string[];
  live: boolean;
}
const NOTHING = { types: [], findings: [] };

let isLive = false;
let ignoredUntil = 0;
let changes: Readonly<Record<string, number>> = {};
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
const notify = (): void => {
  for (const listener of listeners) listener();
};

function receive({ types, findings, live }: Message): void {
  isLive = live;
  const names = new Set(types.flatMap((type) => stale.find(([prefix]) => type.startsWith(prefix))?.[1] ?? []));
  // A tab that nobody sees reads nothing. What is out of date is read again when somebody looks.
  const refetchType = document.hidden ? 'none' : 'active';
  for (const name of names) void queries.invalidateQueries({ queryKey: [name], predicate: ({ queryKey }) => queryKey[1] !== 'list', refetchType });
  const isOwn = Date.now() < ignoredUntil;
  if (findings.length > 0 && !isOwn) for (const listener of followers) listener(findings);
  for (const type of isOwn ? [] : types) {
    const list = Object.entries(counted).find(([prefix]) => type.startsWith(prefix))?.[1];
    if (list !== undefined) changes = { ...changes, [list]: (changes[list] ?? 0) + 1 };
  }
  notify();
}

/**
 * One event stream for all tabs of a browser: browsers open few connections to a site, and the service serves few streams. The tabs elect a leader
 * by a lock; it reads the stream and passes on what happened, at most once per second. When its tab closes, another one takes over.
 */
export function followEvents(signal: AbortSignal): void {
  const channel = new BroadcastChannel(CHANNEL);
  let isLeader = false;
  channel.addEventListener('message', ({ data }: MessageEvent<Message | typeof QUESTION>) => {
    if (data !== QUESTION) receive(data);
    else if (isLeader) channel.postMessage({ ...NOTHING, live: isLive } satisfies Message);
  });
  // A tab that was opened later asks whether there is a stream.
  channel.postMessage(QUESTION);
  signal.addEventListener('abort', () => channel.close());
  const send = (message: Message): void => {
    if (signal.aborted) return;
    channel.postMessage(message);
    receive(message);
  };
  void navigator.locks
    ?.request(CHANNEL, { signal }, () => {
      isLeader = true;
      return lead(send, signal);
    })
    .catch(() => {});
  const poll = setInterval(() => {
    if (!isLive && !document.hidden) void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] !== 'list' });
  }, POLL_MS);
  signal.addEventListener('abort', () => clearInterval(poll));
}

async function lead(send: (message: Message) => void, signal: AbortSignal): Promise<void> {
  let waiting: RrsEvent[] = [];
  const timer = setInterval(() => {
    if (waiting.length === 0) return;
    const findings = waiting.flatMap(({ type, subject }) => (type.startsWith('finding.') && subject !== undefined ? [subject] : []));
    send({ types: waiting.map(({ type }) => type), findings, live: true });
    waiting = [];
  }, TOGETHER_MS);
  try {
    send({ ...NOTHING, live: true });
    for await (const event of api.events({ signal })) waiting.push(event);
  } catch (error) {
    // Without permission or session there is no stream. Pages are read again now and then.
    if (!(error instanceof RrsError)) throw error;
  } finally {
    clearInterval(timer);
    send({ ...NOTHING, live: false });
  }
}

export function useLive(): boolean {
  return useSyncExternalStore(subscribe, () => isLive);
}

const followers = new Set<(ids: readonly string[]) => void>();

/** Calls back with the ids of findings that others changed, at most once per second. Returns how to stop. */
export function followFindings(listener: (ids: readonly string[]) => void): () => void {
  followers.add(listener);
  return () => void followers.delete(listener);
}

/** How many events concerned a list since it was read. */
export function useChanges(list: string): number {
  return useSyncExternalStore(subscribe, () => changes[list] ?? 0);
}

/** Own changes are on the screen already: the events that follow within seconds are theirs. */
export function expectOwnEvents(): void {
  ignoredUntil = Date.now() + 4000;
}

/** A list that was read again knows all. */
export function forgetChanges(list: string): void {
  if (changes[list] === undefined) return;
  const { [list]: _forgotten, ...rest } = changes;
  changes = rest;
  notify();
}
