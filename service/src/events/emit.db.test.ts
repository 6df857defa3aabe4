import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TenantTx } from '../db/database.ts';
import { newId } from '../shared/ids.ts';
import { startApi, type TestApi } from '../testing/http/api.ts';
import { emitAll, emitSql } from './emit.ts';
import type { EventType } from './types.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const inTenant = <T>(work: (tx: TenantTx) => Promise<T>): Promise<T> => api.db.withTenant({ orgId: api.ours.id }, work);

function emitted(subjects: string[]) {
  return inTenant((tx) => tx.selectFrom('events').select(['type', 'subject', 'data']).where('subject', 'in', subjects).orderBy('subject').execute());
}

describe('emitting the events of a query', () => {
  it('emits one event per row', async () => {
    const subjects = [newId(), newId()].sort();
    const rows = sql`select unnest(${subjects}::text[]) as subject, jsonb_build_object('to', 'open') as data`;
    await inTenant((tx) => emitAll(tx, api.ours.id, 'finding.status_changed', rows));
    expect(await emitted(subjects)).toEqual(subjects.map((subject) => ({ type: 'finding.status_changed', subject, data: { to: 'open' } })));
  });

  it('emits nothing for a query without rows', async () => {
    const subject = newId();
    await inTenant((tx) => emitAll(tx, api.ours.id, 'finding.updated', sql`select ${subject}::text as subject, '{}'::jsonb as data where false`));
    expect(await emitted([subject])).toEqual([]);
  });

  it('gives each row its own type as part of a larger statement', async () => {
    const [first, second] = [newId(), newId()].sort() as [string, string];
    const changed = sql`select * from (values (${first}::text, 'updated'), (${second}::text, 'severity_changed')) v (id, action)`;
    const events = emitSql(api.ours.id, sql<EventType>`'finding.' || action`, sql`select id as subject, '{}'::jsonb as data, action from changed`);
    const { rows } = await inTenant((tx) => sql`with changed as (${changed}), emitted as (${events}) select id from changed order by id`.execute(tx));
    expect(rows).toEqual([{ id: first }, { id: second }]);
    expect(await emitted([first, second])).toEqual([
      { type: 'finding.updated', subject: first, data: {} },
      { type: 'finding.severity_changed', subject: second, data: {} },
    ]);
  });
});
