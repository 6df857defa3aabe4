import { ownDatabase } from '../../jobs/children/own-database.ts';
import { serveTasks } from '../../jobs/children/serve-tasks.ts';
import { computePreview, computeState, type PreviewTask, type StateTask } from './compute.ts';

export type StateOrPreview = { preview: PreviewTask } | { state: StateTask };
export type Task = { databaseUrl: string } & StateOrPreview;

/** Started by previews.ts. */
serveTasks((input, ask) => {
  const task = input as Task;
  const db = ownDatabase(task.databaseUrl);
  if ('state' in task) return computeState(db, task.state);
  return computePreview(db, task.preview, async (sha256) => (await ask(sha256)) as string[]);
});
