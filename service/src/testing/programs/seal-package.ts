import { openFileStore } from '../../blobs/file-store.ts';
import { openDatabase } from '../../db/database.ts';
import { sealHandler } from '../../evidence/handlers.ts';
import { startWorker } from '../../jobs/worker.ts';

/** A worker that kills its own process before the given step, for the crash tests. */
const [url = '', blobFolder = '', keysDir = '', publicUrl = '', fatalStep = ''] = process.argv.slice(2);

await startWorker({
  url,
  db: openDatabase({ url, poolSize: 4 }),
  handlers: [
    sealHandler({
      blobs: openFileStore(blobFolder),
      keysDir,
      publicUrl: () => publicUrl,
      version: '0.0.0',
      build: null,
      authorities: null,
      witnesses: [],
      onStep: async (step) => {
        if (step === fatalStep) process.kill(process.pid, 'SIGKILL');
      },
    }),
  ],
  concurrency: 1,
  log: { info: () => {}, error: () => {} },
  heartbeatMs: 50,
});
