import { Worker } from 'node:worker_threads';
import { messageOf } from '../shared/errors.ts';

/** What a thread may use. Exceeding any of them ends the thread, not the process. */
export interface ThreadLimits {
  heapMb: number;
  /** How long it may work, without the time in which it waits for answers. */
  timeMs: number;
  /** How long it may work without asking a question. */
  stepMs?: number;
}

/** `of` is the number of the task that the message belongs to. */
export type ThreadMessage<Question = unknown> = { of: number } & ({ ask: number; question: Question } | { result: unknown } | { error: string });
export type ThreadAnswer = { ask: number; answer: unknown };
/** One more task for a thread of a pool. */
export interface ThreadTask {
  task: unknown;
  n: number;
}

/** Ends a task of a thread that others share. */
export interface ThreadCancel {
  cancel: number;
}

/** The thread was ended or died before it had a result. */
export class ThreadFailure extends Error {
  override readonly name = 'ThreadFailure';
  readonly reason: 'memory' | 'time' | 'crash';

  constructor(reason: ThreadFailure['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The task failed with this message. The thread is ready for the next one. */
export class TaskError extends Error {
  override readonly name = 'TaskError';
}

export interface ThreadWork<Question> {
  /** The module that the thread runs. It calls `serveThread`. */
  module: URL;
  input: unknown;
  limits: ThreadLimits;
  /** Answers the questions that the thread asks, such as for a part of a file. */
  answer?: (question: Question) => Promise<unknown>;
}

const YOUNG_MB = 16;

export function startThread(module: URL, input: unknown, { heapMb }: ThreadLimits): Worker {
  return new Worker(module, {
    workerData: input,
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
}

/**
 * Runs work on untrusted input in a thread of its own, so that it can neither block nor exhaust this process. The heap limit does not include
 * buffers: whoever reads files in the thread must bound their sizes.
 */
export async function runInThread<Question>({ module, input, limits, answer }: ThreadWork<Question>): Promise<unknown> {
  const thread = startThread(module, input, limits);
  try {
    return await resultOf(thread, limits, answer ? { answer } : {});
  } finally {
    await thread.terminate();
  }
}

interface Exchange<Question> {
  /** The number of the task. Zero in a thread that has only one. */
  of?: number;
  answer?: (question: Question) => Promise<unknown>;
  signal?: AbortSignal;
}

/** Waits for the next result of the thread and answers its questions. Fails with the error of an answer, or with the reason of the signal. */
export async function resultOf<Question>(thread: Worker, limits: ThreadLimits, { of = 0, answer, signal }: Exchange<Question>): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const watch = watchTime(limits, reject);
  let asked = 0;
  const reply = async ({ ask, question }: { ask: number; question: Question }): Promise<void> => {
    if (asked++ === 0) watch.pause();
    try {
      thread.postMessage({ ask, answer: await answer?.(question) } satisfies ThreadAnswer);
      if (--asked === 0) watch.resume();
    } catch (error) {
      reject(error);
    }
  };
  const listeners = {
    message: (message: ThreadMessage<Question>): void => {
      // A task that failed may have left something behind that still asks questions.
      if (message.of !== of) return;
      if ('ask' in message) void reply(message);
      else if ('result' in message) resolve(message.result);
      else reject(new TaskError(message.error));
    },
    error: (error: NodeJS.ErrnoException): void => reject(failureOf(error, limits)),
    exit: (code: number): void => reject(new ThreadFailure('crash', `ended early with code ${code}`)),
  };
  const abort = (): void => reject(signal?.reason);
  for (const [event, listener] of Object.entries(listeners)) thread.on(event, listener);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  try {
    return await promise;
  } finally {
    watch.stop();
    signal?.removeEventListener('abort', abort);
    for (const [event, listener] of Object.entries(listeners)) thread.off(event, listener);
  }
}

/** On a machine that is busy with other things, a thread may take so many times as long. */
const PATIENCE = 20;

/**
 * The thread may ask several questions at once. It works at the latest when all of them are answered. Time in which the whole process got no processor
 * does not count: a report must not fail because the machine is busy.
 */
function watchTime({ timeMs, stepMs = timeMs }: ThreadLimits, fail: (failure: ThreadFailure) => void) {
  let left = timeMs;
  let worked = workClock();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const pause = (): void => {
    clearTimeout(timer);
    left -= worked().ms;
  };
  const resume = (): void => {
    if (isOver) return;
    worked = workClock();
    const [limit, exceeded] = stepMs < left ? [stepMs, `${stepMs / 1000} s for one step`] : [left, `${timeMs / 1000} s`];
    const check = (): void => {
      const { ms, elapsed } = worked();
      if (ms >= limit || elapsed >= limit * PATIENCE) fail(new ThreadFailure('time', `took longer than ${exceeded}`));
      else timer = setTimeout(check, Math.max(limit - ms, 1));
    };
    timer = setTimeout(check, limit);
  };
  resume();
  return {
    pause,
    resume,
    stop: (): void => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/** Measures from now on. `ms` is at most the processor time of the process. */
function workClock(): () => { ms: number; elapsed: number } {
  const [since, before] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(before);
    const elapsed = performance.now() - since;
    return { ms: Math.min(elapsed, (user + system) / 1000), elapsed };
  };
}

function failureOf(error: NodeJS.ErrnoException, { heapMb }: ThreadLimits): ThreadFailure {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return new ThreadFailure('memory', `needed more than ${heapMb} MB of memory`);
  return new ThreadFailure('crash', `failed: ${messageOf(error)}`);
}
