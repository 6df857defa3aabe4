import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Actor, systemActor } from '../shared/actor.ts';
import { newId } from '../shared/ids.ts';
import { startApi, type TestApi } from '../testing/http/api.ts';
import { recordAuditAll, recordAuditSql } from './record.ts';

let api: TestApi;
let actor: Actor;
beforeAll(async () => {
  api = await startApi();
  actor = { ...systemActor(api.ours.id, 'worker'), requestId: 'request-1', address: '192.0.2.1' };
});
afterAll(() => api?.close());

function recorded(ids: string[]) {
  return api.db.withTenant(actor, (tx) =>
    tx
      .selectFrom('audit_events')
      .select(['actor_type', 'actor_id', 'actor_name', 'action', 'object_type', 'object_id', 'before', 'after', 'request_id', 'address'])
      .where('object_id', 'in', ids)
      .orderBy('object_id')
      .execute(),
  );
}

const audited = { action: 'package.superseded', objectType: 'evidence_package' } as const;
const common = {
  actor_type: 'system',
  actor_id: null,
  actor_name: 'worker',
  action: 'package.superseded',
  object_type: 'evidence_package',
  request_id: 'request-1',
  address: '192.0.2.1',
};

describe('recording the changes of a query', () => {
  it('records one audit event per row', async () => {
    const ids = [newId(), newId()].sort();
    const rows = sql`select unnest(${ids}::text[]) as object_id, jsonb_build_object('status', 'ready') as before, null::jsonb as after`;
    await api.db.withTenant(actor, (tx) => recordAuditAll(tx, actor, audited, rows));
    expect(await recorded(ids)).toEqual(ids.map((object_id) => ({ ...common, object_id, before: { status: 'ready' }, after: null })));
  });

  it('can be part of a larger statement', async () => {
    const id = newId();
    const rows = sql`select id as object_id, null::jsonb as before, jsonb_build_object('sequence', 2) as after from changed`;
    const statement = sql`with changed as (select ${id}::text as id), audited as (${recordAuditSql(actor, audited, rows)}) select id from changed`;
    const result = await api.db.withTenant(actor, (tx) => statement.execute(tx));
    expect(result.rows).toEqual([{ id }]);
    expect(await recorded([id])).toEqual([{ ...common, object_id: id, before: null, after: { sequence: 2 } }]);
  });
});
