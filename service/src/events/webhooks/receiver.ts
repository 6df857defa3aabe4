import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { notFound } from '../../shared/errors.ts';
import { toCloudEvent } from '../cloud-event.ts';
import type { EventDeps } from '../deps.ts';
import { type DeliveryRow, readDelivery, readDue } from './deliveries.ts';
import { recordDeliveries } from './outcomes.ts';
import type { SecretBox } from './secrets.ts';
import { type Receiver, send } from './send.ts';

/** The columns that a delivery needs. The previous secret also signs while it is valid. */
export const receiverColumns = [
  'id',
  'url',
  'secret',
  sql<Buffer | null>`case when previous_secret_until > now() then previous_secret end`.as('previous'),
] as const;

export interface SealedReceiver {
  id: string;
  url: string;
  secret: Buffer;
  previous: Buffer | null;
}

export function openReceiver(box: SecretBox, orgId: string, { id, url, secret, previous }: SealedReceiver): Receiver {
  return { url, secrets: [secret, ...(previous ? [previous] : [])].map((sealed) => box.open(orgId, id, sealed)) };
}

async function readReceiver(tx: TenantTx, box: SecretBox, orgId: string, id: string): Promise<Receiver> {
  const found = await tx.selectFrom('webhooks').select(receiverColumns).where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst();
  if (!found) throw notFound('webhook', id);
  return openReceiver(box, orgId, found);
}

/** Sends a test while the caller waits, even if the webhook is disabled. The outcome does not count towards disabling it. */
export async function deliverTest(deps: EventDeps & { box: SecretBox }, { orgId }: Actor, delivery: DeliveryRow): Promise<DeliveryRow> {
  const { db, outbound, box, publicUrl } = deps;
  const { id, webhook_id: webhookId } = delivery;
  const [receiver, due] = await db.withTenant(
    { orgId },
    async (tx) => [await readReceiver(tx, box, orgId, webhookId), await readDue(tx, orgId, webhookId, id)] as const,
  );
  const outcome = await send(outbound, receiver, toCloudEvent(publicUrl(), orgId, due.event));
  return db.withTenant({ orgId }, async (tx) => {
    await recordDeliveries(tx, orgId, [{ deliveryId: id, outcome }]);
    return readDelivery(tx, orgId, webhookId, id);
  });
}
