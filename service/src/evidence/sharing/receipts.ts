import { isIP } from 'node:net';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';
import { actorRef } from '../actor-ref.ts';
import type { PackageRow } from '../packages/packages.ts';

export interface Receipt {
  packageId: string;
  kind: 'download' | 'verification';
  format?: string;
  outcome: string;
  shareLinkId?: string;
}

/** Chain of custody: who downloaded or verified a package, when and from where. */
export async function recordReceipt(tx: TenantTx, actor: Actor, { packageId, kind, format, outcome, shareLinkId }: Receipt): Promise<void> {
  await tx
    .insertInto('package_receipts')
    .values({
      org_id: actor.orgId,
      id: newId(),
      package_id: packageId,
      kind,
      format: format ?? null,
      outcome,
      share_link_id: shareLinkId ?? null,
      actor: JSON.stringify(actorRef(actor)),
      address: plainAddress(actor.address),
    })
    .execute();
  const action = kind === 'download' ? 'package.downloaded' : 'package.verified';
  const after = { ...(format === undefined ? {} : { format }), outcome, ...(shareLinkId === undefined ? {} : { share_link_id: shareLinkId }) };
  await recordAudit(tx, actor, { action, objectType: 'evidence_package', objectId: packageId, after });
  await emit(tx, actor.orgId, { type: action, subject: packageId, data: after });
}

/** A proxy can report something that is not an IP address, and link-local addresses can have a zone. The audit event keeps the original text. */
export function plainAddress(address: string | null): string | null {
  const plain = address?.split('%')[0] ?? '';
  return isIP(plain) === 0 ? null : plain;
}

/** Viewing a sealed package is an audit event. Polling a package that is still being generated is not. */
export async function recordView(
  tx: TenantTx,
  actor: Actor,
  { id, archive_sha256 }: Pick<PackageRow, 'id' | 'archive_sha256'>,
  shareLinkId?: string,
): Promise<void> {
  if (archive_sha256 === null) return;
  const after = { archive_sha256, ...(shareLinkId === undefined ? {} : { share_link_id: shareLinkId }) };
  await recordAudit(tx, actor, { action: 'package.viewed', objectType: 'evidence_package', objectId: id, after });
  await emit(tx, actor.orgId, { type: 'package.viewed', subject: id, data: after });
}
