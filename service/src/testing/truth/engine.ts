import { withClient } from '../../db/connection/with-client.ts';
import { migrate } from '../../db/migrate.ts';
import { type Engine, useImports } from '../findings/imports.ts';
import { databaseUrl, startTemporaryPostgres } from '../postgres.ts';

const DATABASE = 'truth';

/** The import engine on a database server of its own, for programs that are not tests. */
export async function withEngine<T>(work: (engine: Engine) => Promise<T>): Promise<T> {
  const starts: (() => Promise<void>)[] = [];
  const ends: (() => Promise<void>)[] = [];
  const server = await startTemporaryPostgres();
  try {
    const url = databaseUrl(server.url, DATABASE);
    await withClient(server.url, async (client) => {
      await client.query('alter system set fsync = off');
      await client.query('select pg_reload_conf()');
      await client.query(`create database ${DATABASE}`);
    });
    await migrate(url);
    const engine = useImports({ start: (begin) => starts.push(begin), end: (end) => ends.push(end), database: async () => ({ url, drop: async () => {} }) });
    for (const begin of starts) await begin();
    return await work(engine);
  } finally {
    for (const end of ends) await end();
    await server.stop();
  }
}
