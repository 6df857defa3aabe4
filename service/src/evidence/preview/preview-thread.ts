import { workerData } from 'node:worker_threads';
import { openDatabase } from '../../db/database.ts';
import { serveTasks } from '../../jobs/serve-thread.ts';
import { computePreview, computeState, type PreviewTask, type StateTask } from './compute.ts';

export type Task = { preview: PreviewTask } | { state: StateTask };

/** Started by previews.ts. It has a connection of its own, so that rows are read and parsed here. */
const db = openDatabase({ url: String(workerData), poolSize: 1 });

serveTasks((input, ask) => {
  const task = input as Task;
  if ('state' in task) return computeState(db, task.state);
  return computePreview(db, task.preview, async (sha256) => (await ask(sha256)) as string[]);
});
