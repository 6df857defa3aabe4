import type pg from 'pg';

/** One connection for the short statements of all callers. It is replaced when it breaks. */
export function openSharedConnection(pool: pg.Pool) {
  let opening: Promise<pg.PoolClient> | null = null;
  const open = async (): Promise<pg.PoolClient> => {
    const client = await pool.connect();
    client.once('error', () => drop(client));
    return client;
  };
  const dropped = new WeakSet<pg.PoolClient>();
  const drop = (client: pg.PoolClient): void => {
    if (dropped.has(client)) return;
    dropped.add(client);
    opening = null;
    client.release(true);
  };
  return {
    client(): Promise<pg.PoolClient> {
      opening ??= open().catch((error: unknown) => {
        opening = null;
        throw error;
      });
      return opening;
    },
    close(): void {
      opening?.then(drop, () => {});
    },
  };
}
