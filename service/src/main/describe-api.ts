import type { BlobStore } from '../blobs/blobs.ts';
import type { Database } from '../db/database.ts';
import { installOpenApi } from '../http/openapi/openapi.ts';
import { createMetrics } from '../http/operations.ts';
import type { Outbound } from '../net/request.ts';
import { createApi } from './api.ts';
import { readConfig } from './config.ts';
import { createLog, version } from './log.ts';

/** Generates the published description from the routes. No handler is called, so no database is needed. */
export async function describeApi(): Promise<string> {
  const db = {} as Database;
  const blobs = {} as BlobStore;
  const outbound = {} as Outbound;
  const app = await createApi({
    config: readConfig({}).config,
    db,
    blobs,
    outbound,
    log: createLog('silent'),
    secret: Buffer.alloc(32),
    keyUse: { note: () => {}, close: async () => {} },
    publicUrl: () => 'http://127.0.0.1:8080',
    operations: { db, metrics: createMetrics(db), schemaVersion: 0, needsWorker: false },
    prepare: (api) => installOpenApi(api, version),
  });
  await app.ready();
  const description = JSON.stringify(app.swagger(), null, 2);
  await app.close();
  return `${description}\n`;
}
