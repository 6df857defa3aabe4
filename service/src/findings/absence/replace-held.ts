import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { systemActor } from '../../shared/actor.ts';
import type { Resolution } from '../merge/resolution.ts';

/**
 * A newer complete run decides about what earlier runs of the source would have closed, so their withheld closures are dropped. A run of which nothing is
 * left to confirm is discarded.
 */
export async function replaceHeld(tx: TenantTx, { orgId, importId, sourceId }: Resolution): Promise<void> {
  const held = sql`(select i.id from imports i where i.org_id = ${orgId} and i.source_id = ${sourceId} and i.status = 'needs_confirmation' and i.id <> ${importId})`;
  await sql`
    delete from import_closures c using findings f, run_assets run
    where c.org_id = ${orgId} and c.import_id in ${held} and f.org_id = ${orgId} and f.id = c.finding_id
      and run.org_id = ${orgId} and run.import_id = ${importId} and run.asset_id = f.asset_id and run.track = c.track and run.complete and run.started_at > c.absent_at`.execute(
    tx,
  );
  await sql`
    delete from import_closures c where c.org_id = ${orgId} and c.import_id in ${held} and exists (
      select from import_closures own where own.org_id = ${orgId} and own.import_id = ${importId}
        and own.finding_id = c.finding_id and own.track = c.track and own.absent_at > c.absent_at offset 0)`.execute(tx);
  const { rows } = await sql<{ id: string }>`
    update imports i set status = 'discarded', version = i.version + 1,
      notes = coalesce(i.notes, '[]') || to_jsonb(${`A newer run of the source replaced this one: import ${importId}. Nothing is left to confirm.`}::text)
    where i.org_id = ${orgId} and i.id in ${held} and not exists (select from import_closures c where c.org_id = ${orgId} and c.import_id = i.id) returning i.id`.execute(
    tx,
  );
  const actor = systemActor(orgId, 'worker');
  for (const { id } of rows) {
    const after = { status: 'discarded', closed: 0, replaced_by: importId };
    await recordAudit(tx, actor, { action: 'import.discarded', objectType: 'import', objectId: id, before: { status: 'needs_confirmation' }, after });
    await emit(tx, orgId, { type: 'import.discarded', subject: id, data: { closed: 0, replaced_by: importId } });
  }
}
