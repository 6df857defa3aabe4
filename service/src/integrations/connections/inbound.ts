import type { SystemTx } from '../../db/database.ts';
import type { ConnectionRow } from './connections.ts';

/** Whoever sends a message knows the id of the connection and no organization. */
export function findConnection(tx: SystemTx, id: string): Promise<ConnectionRow | undefined> {
  return tx.selectFrom('connections').selectAll().where('id', '=', id).where('deleted_at', 'is', null).executeTakeFirst();
}
