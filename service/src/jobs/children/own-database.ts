import { type Database, openDatabase } from '../../db/database.ts';

let db: Database | undefined;

/** The connection of a child process, which all its tasks use. Rows are then read and parsed in the child. */
export function ownDatabase(url: string): Database {
  db ??= openDatabase({ url, poolSize: 1 });
  return db;
}
