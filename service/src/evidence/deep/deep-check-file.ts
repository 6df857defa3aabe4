import { runInThread, type ThreadLimits } from '../../jobs/thread.ts';
import type { DeepFinding } from './deep-check.ts';

/** Checks a package in a thread with limits. Throws ThreadFailure if a limit is reached. */
export async function deepCheckFile(path: string, limits: ThreadLimits): Promise<DeepFinding[]> {
  return (await runInThread({ module: new URL('./deep-thread.ts', import.meta.url), input: path, limits })) as DeepFinding[];
}
