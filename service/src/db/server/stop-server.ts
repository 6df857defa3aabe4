import { setTimeout as delay } from 'node:timers/promises';

/** How long PostgreSQL may take to finish its work and write a checkpoint. A busy disk can take longer than anybody wants to wait. */
const PATIENCE_MS = 20_000;
/** A postmaster ends what is left after five seconds of an immediate shutdown. */
const IMMEDIATE_MS = 40_000;
const POLL_MS = 15;

/** Stops a PostgreSQL server, at once if it does not stop in order: then it recovers when it starts again. Returns whether it has ended. */
export async function stopServer(pid: number, isRunning: () => boolean, patience = PATIENCE_MS): Promise<boolean> {
  const inTime = async (ms: number): Promise<boolean> => {
    for (const deadline = Date.now() + ms; isRunning() && Date.now() < deadline; ) await delay(POLL_MS);
    return !isRunning();
  };
  signal(pid, 'SIGINT');
  if (await inTime(patience)) return true;
  signal(pid, 'SIGQUIT');
  return inTime(IMMEDIATE_MS);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended in the meantime.
  }
}
