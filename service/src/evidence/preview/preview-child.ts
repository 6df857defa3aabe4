import { type Database, openDatabase } from '../../db/database.ts';
import { serveTasks } from '../../jobs/children/serve-tasks.ts';
import { computePreview, computeState, type PreviewTask, type StateTask } from './compute.ts';

export type StateOrPreview = { preview: PreviewTask } | { state: StateTask };
export type Task = { databaseUrl: string } & StateOrPreview;

/** A connection of its own, so that rows are read and parsed here. */
let db: Database | undefined;

/** Started by previews.ts. */
serveTasks((input, ask) => {
  const task = input as Task;
  db ??= openDatabase({ url: task.databaseUrl, poolSize: 1 });
  if ('state' in task) return computeState(db, task.state);
  return computePreview(db, task.preview, async (sha256) => (await ask(sha256)) as string[]);
});
