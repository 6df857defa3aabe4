import { type Database, openDatabase } from '../../db/database.ts';
import { REQUEST_LIMITS } from '../../db/limits.ts';
import { serveTasks } from '../../jobs/children/serve-tasks.ts';
import { type ExportTask, writeExport } from './write-export.ts';

export interface DatabaseTask {
  databaseUrl: string;
  write: ExportTask;
}

/** A connection of its own, so that rows are read and parsed here. */
let db: Database | undefined;

/** Started by exports.ts. Each part is a question, whose answer asks for the next one. */
serveTasks(async (input, send, signal) => {
  const { databaseUrl, write } = input as DatabaseTask;
  db ??= openDatabase({ url: databaseUrl, poolSize: 1 }).limitedTo(REQUEST_LIMITS);
  for await (const part of writeExport(db, write)) {
    signal.throwIfAborted();
    await send(Buffer.from(part));
  }
});
