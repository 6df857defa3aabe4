import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import type { ChildLimits } from '../../jobs/children/child.ts';
import { openChildPool } from '../../jobs/children/child-pool.ts';
import { createSlots } from '../../jobs/slots.ts';
import type { DatabaseTask } from './export-child.ts';
import type { ExportTask } from './write-export.ts';

const LIMITS: ChildLimits = { heapMb: 512, timeMs: 60 * 60_000 };
const IDLE_MS = 30_000;
/** More than an organization may have at a time, so that one is left for others. */
const MAX_RUNNING = 4;
/** At a time. */
export const EXPORT_SHARES = { perOrganization: 3, perCredential: 2 };

export interface Exports {
  /** Returns the file as a stream that has its first part, or is at its end if it is empty. Fails if the first part cannot be written. */
  open(task: ExportTask, signal: AbortSignal): Promise<Readable>;
  close(): Promise<void>;
}

/** Writes exports in child processes: each page of findings takes a tenth of a second, in which nobody else would get an answer. */
export function openExports(databaseUrl: string): Exports {
  const slots = createSlots({ running: MAX_RUNNING, waiting: Number.POSITIVE_INFINITY, refusal: '' });
  const pool = openChildPool({ module: new URL('./export-child.ts', import.meta.url), limits: LIMITS, slots, idleMs: IDLE_MS });
  return {
    async open(write, signal) {
      const file = new PassThrough();
      const answer = async (part: Uint8Array): Promise<void> => {
        if (!file.write(part)) await once(file, 'drain', { signal });
      };
      pool.run({ databaseUrl, write } satisfies DatabaseTask, { answer, signal }).then(
        () => file.end(),
        (error) => file.destroy(error),
      );
      await once(file, 'readable');
      return file;
    },
    close: () => pool.close(),
  };
}
