import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { FindingFollower } from '../../findings/follower.ts';
import type { Actor } from '../../shared/actor.ts';

/** Supersedes packages that report a finding as closed when the finding is reopened. They still verify for their date but are no longer current. */
export function followWithPackages(others: FindingFollower): FindingFollower {
  return {
    ...others,
    async follow(tx, actor, ids) {
      await others.follow(tx, actor, ids);
      await supersedeReopened(tx, actor, ids);
    },
  };
}

const REASON = 'A finding that this package reports as closed was reopened.';

async function supersedeReopened(tx: TenantTx, actor: Actor, ids: RawBuilder<unknown>): Promise<void> {
  const { orgId } = actor;
  await sql`
    with reopened as (
      select distinct p.package_id
      from package_findings p join findings f on f.org_id = ${orgId} and f.id = p.finding_id and f.status in ('open', 'in_progress')
      where p.org_id = ${orgId} and p.finding_id in (${ids}) and p.state not in ('open', 'in_progress')
    ), marked as (
      update evidence_packages e set status = 'superseded', superseded_at = now(), superseded_reason = ${REASON}
      from reopened where e.org_id = ${orgId} and e.id = reopened.package_id and e.status = 'ready'
      returning e.id, e.work_item_id, e.sequence
    ), audited as (
      insert into audit_events (org_id, id, actor_type, actor_id, actor_name, action, object_type, object_id, after, request_id, address)
      select ${orgId}, new_id(), ${actor.type}, ${actor.id}, ${actor.name}, 'package.superseded', 'evidence_package', id::text,
        jsonb_build_object('work_item_id', work_item_id, 'sequence', sequence, 'reason', ${REASON}::text), ${actor.requestId}, ${actor.address} from marked
    )
    insert into events (org_id, id, type, subject, data)
    select ${orgId}, new_id(), 'package.superseded', id::text, jsonb_build_object('work_item_id', work_item_id, 'sequence', sequence, 'reason', ${REASON}::text) from marked`.execute(
    tx,
  );
}
