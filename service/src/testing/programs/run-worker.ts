import { openDatabase } from '../../db/database.ts';
import { declareJob, handle } from '../../jobs/jobs.ts';
import { startWorker } from '../../jobs/worker.ts';

/** A worker that takes one job and never finishes it, for the test that kills the process. */
const [url = '', name = ''] = process.argv.slice(2);

await startWorker({
  url,
  db: openDatabase({ url, poolSize: 2 }),
  handlers: [
    handle(declareJob(name), async () => {
      process.stdout.write('at work\n');
      await new Promise(() => {});
    }),
  ],
  concurrency: 1,
  log: { info: () => {}, error: () => {} },
  heartbeatMs: 50,
});
