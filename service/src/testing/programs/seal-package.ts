import { openFileStore } from '../../blobs/file-store.ts';
import { openDatabase } from '../../db/database.ts';
import { sealHandler } from '../../evidence/handlers.ts';
import { startWorker } from '../../jobs/worker.ts';

/** For the test of crashes: a worker in a process of its own that dies before the step it is told, without a word to anybody. */
const [url = '', blobFolder = '', keysDir = '', publicUrl = '', deadly = ''] = process.argv.slice(2);

await startWorker({
  url,
  db: openDatabase({ url, poolSize: 4 }),
  handlers: [
    sealHandler({
      blobs: openFileStore(blobFolder),
      keysDir,
      publicUrl: () => publicUrl,
      version: '0.0.0',
      authorities: null,
      onStep: async (step) => {
        if (step === deadly) process.kill(process.pid, 'SIGKILL');
      },
    }),
  ],
  concurrency: 1,
  log: { info: () => {}, error: () => {} },
  heartbeatMs: 50,
});
