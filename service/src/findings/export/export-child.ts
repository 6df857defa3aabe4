import { REQUEST_LIMITS } from '../../db/limits.ts';
import { ownDatabase } from '../../jobs/children/own-database.ts';
import { serveTasks } from '../../jobs/children/serve-tasks.ts';
import { type ExportTask, writeExport } from './write-export.ts';

export interface DatabaseTask {
  databaseUrl: string;
  write: ExportTask;
}

/** Started by exports.ts. Each part is a question, whose answer asks for the next one. */
serveTasks(async (input, send, signal) => {
  const { databaseUrl, write } = input as DatabaseTask;
  const db = ownDatabase(databaseUrl).limitedTo(REQUEST_LIMITS);
  for await (const part of writeExport(db, write)) {
    signal.throwIfAborted();
    await send(Buffer.from(part));
  }
});
