import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileStore } from '../blobs/file-store.ts';
import { openDatabase } from '../db/database.ts';
import { instanceSecret } from '../db/instance-secret.ts';
import { createApi } from '../main/api.ts';
import { readConfig } from '../main/config.ts';
import { createLog } from '../main/log.ts';
import { createMetrics } from '../main/operations.ts';
import { createGuard } from '../net/addresses.ts';
import { createOutbound } from '../net/request.ts';
import { createKeyUse } from '../organizations/api-keys/key-use.ts';
import { type ApiAnswer, type CallOptions, call } from './http/api.ts';

/** The same API with its own connection pools and memory. To the database it is another process. */
export async function startReplica(databaseUrl: string, settings: Record<string, string> = {}) {
  const db = openDatabase({ url: databaseUrl, poolSize: 5 });
  const { config } = readConfig({ RRS_RATE_LIMIT: '0', ...settings });
  const keyUse = createKeyUse(db, () => {});
  const address = { url: 'http://127.0.0.1' };
  const app = await createApi({
    config,
    db,
    databaseUrl,
    log: createLog('silent'),
    secret: await instanceSecret(db, 'signing'),
    keyUse,
    blobs: openFileStore(join(tmpdir(), 'rrs-replica')),
    outbound: createOutbound({ guard: createGuard([]) }),
    publicUrl: () => config.RRS_PUBLIC_URL ?? address.url,
    operations: { db, metrics: createMetrics(db), schemaVersion: 1, needsWorker: false },
    console: null,
  });
  address.url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    db,
    databaseUrl,
    keyUse,
    url: address.url,
    call: (method: string, path: string, options: CallOptions = {}): Promise<ApiAnswer> => call(address.url, method, path, options),
    async close(): Promise<void> {
      await app.close();
      await keyUse.close();
      await db.close();
    },
  };
}
