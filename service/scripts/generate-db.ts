import { writeFile } from 'node:fs/promises';
import { withClient } from '../src/db/connection/with-client.ts';
import { migrate } from '../src/db/migrate.ts';
import { describeRowTypes } from '../src/db/row-types.ts';
import { startTemporaryPostgres } from '../src/testing/postgres.ts';

const server = await startTemporaryPostgres();
try {
  await migrate(server.url);
  await withClient(server.url, async (client) => {
    await writeFile(new URL('../src/db/types.ts', import.meta.url), await describeRowTypes(client));
  });
} finally {
  await server.stop();
}
