import type pg from 'pg';
import { errorCodeOf } from '../../shared/errors.ts';

interface Statement {
  name: string;
  text: string;
  values: unknown[];
}

const NO_SUCH_STATEMENT = '26000';
const DUPLICATE_STATEMENT = '42P05';

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
  const current = (): Promise<pg.PoolClient> => {
    opening ??= open().catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  };
  return {
    /**
     * Callers that ask while a statement is parsed for the first time rely on its name. If parsing fails, for example because it took too long, PostgreSQL does not
     * know the name, which says nothing about their requests.
     */
    async query<Row>({ name, text, values }: Statement): Promise<Row[]> {
      const client = await current();
      try {
        return (await client.query({ name, text, values })).rows;
      } catch (error) {
        const code = errorCodeOf(error);
        if (code !== NO_SUCH_STATEMENT && code !== DUPLICATE_STATEMENT) throw error;
        return (await client.query({ text, values })).rows;
      }
    },
    close(): void {
      opening?.then(drop, () => {});
    },
  };
}
