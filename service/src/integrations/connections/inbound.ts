import type { SystemTx } from '../../db/database.ts';
import type { ConnectionRow } from './connections.ts';

/** Looks in all organizations: a vendor's webhook request names the connection but carries no credential of an organization. */
export function findConnection(tx: SystemTx, id: string): Promise<ConnectionRow | undefined> {
  return tx.selectFrom('connections').selectAll().where('id', '=', id).where('deleted_at', 'is', null).executeTakeFirst();
}
