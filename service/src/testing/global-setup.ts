import type { TestProject } from 'vitest/node';
import { withClient } from '../db/connection/with-client.ts';
import { migrate } from '../db/migrate.ts';
import { databaseUrl, startTemporaryPostgres, TEMPLATE } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
    /** How long each law is tried. With 0, it is tried with a few histories. */
    lawSeconds: number;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Set by `npm run test:postgres`.
  const server = await startTemporaryPostgres(process.env.RRS_TEST_POSTGRES);
  try {
    await withClient(server.url, async (client) => {
      await client.query('alter system set fsync = off');
      await client.query('select pg_reload_conf()');
      await client.query(`create database ${TEMPLATE}`);
    });
    await migrate(databaseUrl(server.url, TEMPLATE));
  } catch (error) {
    await server.stop();
    throw error;
  }
  project.provide('postgresUrl', server.url);
  // Set by `npm run test:laws`.
  project.provide('lawSeconds', Number(process.env.RRS_LAW_SECONDS ?? 0));
  return server.stop;
}
