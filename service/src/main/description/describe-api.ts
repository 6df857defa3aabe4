import type { BlobStore } from '../../blobs/blobs.ts';
import type { Database } from '../../db/database.ts';
import type { App } from '../../http/app.ts';
import { installOpenApi } from '../../http/openapi/openapi.ts';
import type { Outbound } from '../../net/request.ts';
import { createApi } from '../api.ts';
import { readConfig } from '../config.ts';
import { createLog, version } from '../log.ts';
import { createMetrics } from '../operations.ts';
import { enums } from './enums.ts';

/** Generates the published description from the routes. */
export async function describeApi(): Promise<string> {
  const app = await assembleApi((api) => installOpenApi(api, { version, enums }));
  const description = JSON.stringify(app.swagger(), null, 2);
  await app.close();
  return `${description}\n`;
}

/** Registers all routes without a database. They can be inspected but not called. */
export async function assembleApi(prepare: (app: App) => Promise<void>): Promise<App> {
  const db = {} as Database;
  db.limitedTo = () => db;
  const blobs = {} as BlobStore;
  const outbound = {} as Outbound;
  const app = await createApi({
    config: readConfig({}).config,
    db,
    databaseUrl: '',
    blobs,
    outbound,
    log: createLog('silent'),
    secret: Buffer.alloc(32),
    keyUse: { note: () => {}, close: async () => {} },
    publicUrl: () => 'http://127.0.0.1:8080',
    operations: { db, metrics: createMetrics(db), schemaVersion: 0, needsWorker: false },
    console: { folder: '', missing: () => null },
    prepare,
  });
  await app.ready();
  return app;
}
