import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll } from 'vitest';
import { eraseHandler } from '../../evidence/handlers.ts';
import { newId } from '../../shared/ids.ts';
import { type CallOptions, startApi, type TestApi, type TestOrganization } from '../http/api.ts';
import { type FormPart, sendArtifact } from './evidence.ts';

export const EVIDENCE = '/api/v1/riskops-evidence';

interface Artifact {
  id: string;
  sha256: string;
  errors: { path: string }[];
  detail: string;
}

interface Sending {
  as?: string;
  to?: string;
  headers?: Record<string, string>;
}

/** An API with a work item, and functions for its artifacts. They use the owner key of `ours` by default. */
export function useArtifacts(config: Record<string, string> = {}) {
  let running: TestApi;
  let item: string;
  beforeAll(async () => {
    running = await startApi({ config });
    item = await newItem();
  });
  afterAll(() => running?.close());
  const api = (): TestApi => running;

  async function newItem({ owner }: TestOrganization = running.ours): Promise<string> {
    const { body } = await running.call('POST', '/api/v1/work-items', { as: owner, body: { title: 'Patch OpenSSL' } });
    return (body as { id: string }).id;
  }

  async function send(parts: Readonly<Record<string, FormPart>>, { as = running.ours.owner, to = item, headers = {} }: Sending = {}) {
    const answer = await sendArtifact(running.url, to, parts, { authorization: `Bearer ${as}`, ...headers });
    return { ...answer, body: answer.body as Artifact };
  }

  return {
    api,
    item: () => item,
    newItem,
    send,
    upload: (content: string | Uint8Array, fields: Record<string, string> = {}, options: Sending = {}) =>
      send({ type: 'test_result', title: 'Proof', ...fields, file: file(content) }, options),
    get: (path: string, options: CallOptions = {}) => running.call('GET', `${EVIDENCE}${path}`, { as: running.ours.owner, ...options }),
    remove: (id: string, options: CallOptions = {}) =>
      running.call('DELETE', `${EVIDENCE}/artifacts/${id}?reason=wrong%20file`, { as: running.ours.owner, ...options }),

    async download(id: string, headers: Record<string, string> = {}, method = 'GET') {
      const authorization = `Bearer ${running.ours.owner}`;
      const response = await fetch(`${running.url}${EVIDENCE}/artifacts/${id}/content`, { method, headers: { authorization, ...headers } });
      return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
    },

    /** Actions that are both in the audit trail and in the events. */
    async history(id: string): Promise<string[]> {
      const { rows } = await running.db.withSystem((tx) =>
        sql<{ action: string }>`
          select action from audit_events where object_id = ${id} intersect all select type from events where subject = ${id} order by 1`.execute(tx),
      );
      return rows.map(({ action }) => action);
    },

    /** Runs the queued jobs that erase bytes. */
    async erase(): Promise<void> {
      const { rows } = await running.db.withSystem((tx) =>
        sql<{ payload: object }>`
          select payload from graphile_worker._private_jobs job join graphile_worker._private_tasks task on task.id = task_id
          where identifier = 'erase_bytes'`.execute(tx),
      );
      const context = { db: running.db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: false };
      for (const { payload } of rows) await eraseHandler(running.blobs).run(payload, context);
    },
  };
}

export const file = (content: string | Uint8Array, name = 'proof.txt'): FormPart => ({ name, content });
export const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
/** Content that no other test uses. */
export const unique = (): string => `bytes ${newId()}`;
