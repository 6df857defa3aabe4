import { Worker } from 'node:worker_threads';
import { messageOf } from '../shared/errors.ts';

/** What a thread may use. Exceeding either ends the thread, not the process. */
export interface ThreadLimits {
  heapMb: number;
  timeMs: number;
}

export type ThreadMessage<Question = unknown> = { ask: number; question: Question } | { result: unknown } | { error: string };
export type ThreadAnswer = { ask: number; answer: unknown } | { ask: number; error: string };
/** One more task for a thread that stays. */
export interface ThreadTask {
  task: unknown;
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
    return await resultOf(thread, limits, answer);
  } finally {
    await thread.terminate();
  }
}

/** Waits for the next result of the thread and answers its questions. */
export async function resultOf<Question>(thread: Worker, limits: ThreadLimits, answer: ThreadWork<Question>['answer']): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const timer = setTimeout(() => reject(new ThreadFailure('time', `took longer than ${limits.timeMs / 1000} s`)), limits.timeMs);
  const listeners = {
    message: (message: ThreadMessage<Question>): void => {
      if ('ask' in message) void reply(thread, message, answer);
      else if ('result' in message) resolve(message.result);
      else reject(new Error(message.error));
    },
    error: (error: NodeJS.ErrnoException): void => reject(failureOf(error, limits)),
    exit: (code: number): void => reject(new ThreadFailure('crash', `ended early with code ${code}`)),
  };
  for (const [event, listener] of Object.entries(listeners)) thread.on(event, listener);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    for (const [event, listener] of Object.entries(listeners)) thread.off(event, listener);
  }
}

async function reply<Question>(thread: Worker, { ask, question }: { ask: number; question: Question }, answer: ThreadWork<Question>['answer']): Promise<void> {
  try {
    thread.postMessage({ ask, answer: await answer?.(question) } satisfies ThreadAnswer);
  } catch (error) {
    thread.postMessage({ ask, error: messageOf(error) } satisfies ThreadAnswer);
  }
}

function failureOf(error: NodeJS.ErrnoException, { heapMb }: ThreadLimits): ThreadFailure {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return new ThreadFailure('memory', `needed more than ${heapMb} MB of memory`);
  return new ThreadFailure('crash', `failed: ${error.message}`);
}
