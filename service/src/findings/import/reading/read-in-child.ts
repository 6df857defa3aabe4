import { ReportError } from '@rrs/scan-reports';
import { ChildFailure, type ChildLimits } from '../../../jobs/children/child.ts';
import { type ChildPool, openChildPool } from '../../../jobs/children/child-pool.ts';
import { createSlots } from '../../../jobs/slots.ts';
import type { FileHost } from './open-report.ts';
import type { Reader, ReadingHost, ReadResult, ReadTask } from './read-report.ts';

/** A call of the host by the child. */
export type HostQuestion = { [Call in keyof ReadingHost]: { call: Call; given: Parameters<ReadingHost[Call]> } }[keyof ReadingHost];
/** `formats` is the address of a module that exports the formats to read. Null: those of uploaded reports. */
export type ChildReadTask = ({ read: ReadTask } | { names: string | null }) & { formats: string | null };

/** A record is at most 16 MiB, and reading one takes far less than a second. Reading 1 GiB takes a minute or two. */
const LIMITS: ChildLimits = { heapMb: 512, stepMs: 60_000, timeMs: 60 * 60_000 };
/** Two readers already keep PostgreSQL busy. More of them are for reports of others that arrive while large ones are read. */
const MAX_CHILDREN = 4;
const IDLE_MS = 30_000;
/** Whatever it is made of, such a report is read in a moment, so it does not wait for those that take minutes, and gets the processor before them. */
const SMALL_BYTES = 64 * 1024;
const NICENESS_OF_SMALL = 5;

interface Readers {
  small: ChildPool;
  large: ChildPool;
  close(): Promise<void>;
}

export function openReaders(limits: ChildLimits = LIMITS): Readers {
  const open = (more: Partial<ChildLimits>): ChildPool => {
    const slots = createSlots({ running: MAX_CHILDREN, waiting: Number.POSITIVE_INFINITY, refusal: '' });
    return openChildPool({ module: new URL('./read-child.ts', import.meta.url), limits: { ...limits, ...more }, slots, idleMs: IDLE_MS });
  };
  const [small, large] = [open({ niceness: NICENESS_OF_SMALL }), open({})];
  return { small, large, close: async () => void (await Promise.all([small.close(), large.close()])) };
}

const readers = openReaders();

/** Reads reports in child processes: anybody who may import can upload a file that is made to exhaust memory or time. */
export function childReader(formats: URL | null = null, { small, large }: Readers = readers): Reader {
  const run = async (task: { read: ReadTask } | { names: string | null }, host: Partial<ReadingHost>, signal: AbortSignal): Promise<unknown> => {
    const pool = 'read' in task && task.read.stored.bytes <= SMALL_BYTES ? small : large;
    try {
      const input: ChildReadTask = { ...task, formats: formats?.href ?? null };
      return await pool.run<HostQuestion>(input, { answer: (question) => answerOf(host, question), signal });
    } catch (error) {
      // A report that exhausts a limit would do so again. A child that ended for another reason is tried again with the job.
      if (error instanceof ChildFailure && error.reason !== 'crash')
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
