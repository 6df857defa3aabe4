import { Worker } from 'node:worker_threads';
import { messageOf } from '../shared/errors.ts';

/** What a thread may use. Exceeding either ends the thread, not the process. */
export interface ThreadLimits {
  heapMb: number;
  timeMs: number;
}

export type ThreadMessage<Question = unknown> = { ask: number; question: Question } | { result: unknown } | { error: string };
export type ThreadAnswer = { ask: number; answer: unknown } | { ask: number; error: string };

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

/**
 * Runs work on untrusted input in a thread of its own, so that it can neither block nor exhaust this process. The heap limit does not include
 * buffers: whoever reads files in the thread must bound their sizes.
 */
export async function runInThread<Question>({ module, input, limits, answer }: ThreadWork<Question>): Promise<unknown> {
  const thread = new Worker(module, {
    workerData: input,
    resourceLimits: { maxOldGenerationSizeMb: limits.heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new ThreadFailure('time', `took longer than ${limits.timeMs / 1000} s`)), limits.timeMs);
      thread.on('message', (message: ThreadMessage<Question>) => {
        if ('ask' in message) void reply(thread, message, answer);
        else if ('result' in message) resolve(message.result);
        else reject(new Error(message.error));
      });
      thread.on('error', (error: NodeJS.ErrnoException) => reject(failureOf(error, limits)));
      thread.on('exit', (code) => reject(new ThreadFailure('crash', `ended early with code ${code}`)));
    });
  } finally {
    clearTimeout(timer);
    await thread.terminate();
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
