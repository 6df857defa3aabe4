import { sql } from 'kysely';
import type { SystemTx, TenantTx } from '../../db/database.ts';

/** Ends the link of a member. */
export async function endInvitation(tx: TenantTx, orgId: string, memberId: string): Promise<void> {
  await tx.deleteFrom('invitations').where('org_id', '=', orgId).where('member_id', '=', memberId).execute();
}

/** The first member ends the setup, in whatever way it was added. */
export async function forgetSetup(tx: TenantTx, orgId: string): Promise<void> {
  await tx.deleteFrom('invitations').where('org_id', '=', orgId).where('member_id', 'is', null).execute();
}

export async function forgetExpiredInvitations(tx: SystemTx): Promise<void> {
  await tx.deleteFrom('invitations').where('expires_at', '<', sql<Date>`now()`).execute();
}
