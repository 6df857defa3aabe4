import { ReportError } from '@rrs/scan-reports';
import { createSlots } from '../../../jobs/slots.ts';
import { ThreadFailure, type ThreadLimits } from '../../../jobs/thread.ts';
import { openThreadPool } from '../../../jobs/thread-pool.ts';
import type { FileHost } from './open-report.ts';
import type { Reader, ReadingHost, ReadResult, ReadTask } from './read-report.ts';

/** A call of the host by the thread. */
export type HostQuestion = { [Call in keyof ReadingHost]: { call: Call; given: Parameters<ReadingHost[Call]> } }[keyof ReadingHost];
/** `formats` is the address of a module that exports the formats to read. Null: those of uploaded reports. */
export type ThreadReadTask = ({ read: ReadTask } | { names: string | null }) & { formats: string | null };

/** A record is at most 16 MiB, and reading one takes far less than a second. Reading 1 GiB takes a minute or two. */
const LIMITS: ThreadLimits = { heapMb: 512, stepMs: 60_000, timeMs: 60 * 60_000 };
/** Two readers already keep PostgreSQL busy. More of them are for small reports that arrive while large ones are read. */
const MAX_THREADS = 4;
const IDLE_MS = 30_000;

export function openReaders(limits: ThreadLimits = LIMITS) {
  const slots = createSlots({ running: MAX_THREADS, waiting: Number.POSITIVE_INFINITY, refusal: '' });
  return openThreadPool({ module: new URL('./read-thread.ts', import.meta.url), limits, slots, idleMs: IDLE_MS });
}

const readers = openReaders();

/** Reads reports in threads: anybody who may import can upload a file that is made to exhaust memory or time. */
export function threadReader(formats: URL | null = null, pool: typeof readers = readers): Reader {
  const run = async (task: { read: ReadTask } | { names: string | null }, host: Partial<ReadingHost>, signal: AbortSignal): Promise<unknown> => {
    try {
      const input: ThreadReadTask = { ...task, formats: formats?.href ?? null };
      return await pool.run<HostQuestion>(input, { answer: (question) => answerOf(host, question), signal });
    } catch (error) {
      // A report that exhausts a limit would do so again. A thread that ended for another reason is tried again with the job.
      if (error instanceof ThreadFailure && error.reason !== 'crash')
        throw new ReportError(`Reading the report ${error.message}, so the import was stopped. Split the report, or check whether the file is damaged.`, {
          cause: error,
        });
      throw error;
    }
  };
  return {
    read: async (task, host, signal) => (await run({ read: task }, host, signal)) as ReadResult,
    names: async (filename, host: FileHost, signal) => (await run({ names: filename }, host, signal)) as string[],
  };
}

function answerOf(host: Partial<ReadingHost>, { call, given }: HostQuestion): Promise<unknown> {
  const answer = host[call] as (...given: unknown[]) => Promise<unknown>;
  return answer(...given);
}
