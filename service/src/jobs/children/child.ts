import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../shared/errors.ts';
import { type TimeLimits, watchTime } from './watch-time.ts';

/**
 * What a child process may use. Exceeding any of them ends the child. A thread would not do: V8 ends the whole process if a thread needs much memory at once,
 * also if the thread has a limit.
 */
export interface ChildLimits extends TimeLimits {
  /** Without buffers: whoever reads files in the child must bound their sizes. */
  heapMb: number;
  /** How far it comes after other processes that need the processor, at most 19. */
  niceness?: number;
}

/** `of` is the number of the task that the message belongs to. */
export type ChildMessage<Question = unknown> = { of: number } & ({ ask: number; question: Question } | { result: unknown } | { error: string });
export type ChildAnswer = { ask: number; answer: unknown };
export interface ChildTask {
  task: unknown;
  n: number;
}
/** Ends a task of a child that others share. */
export interface ChildCancel {
  cancel: number;
}

/** The child was ended or died before it had a result. */
export class ChildFailure extends Error {
  override readonly name = 'ChildFailure';
  readonly reason: 'memory' | 'time' | 'crash';

  constructor(reason: ChildFailure['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** The task failed with this message. The child is ready for the next one. */
export class TaskError extends Error {
  override readonly name = 'TaskError';
}

export interface Child {
  process: ChildProcess;
  limits: ChildLimits;
  send(message: ChildTask | ChildAnswer | ChildCancel): void;
  /** Fulfilled when the process has ended, for whatever reason. */
  ended: Promise<ChildFailure>;
  end(): Promise<void>;
  /** Whether this process stays alive for the child. */
  keep(isKept: boolean): void;
}

/** The module calls `serveTasks`. */
export function startChild(module: URL, limits: ChildLimits): Child {
  const process = fork(fileURLToPath(module), {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    ...boundToThis([`--max-old-space-size=${limits.heapMb}`, '--disable-warning=ExperimentalWarning']),
  });
  process.setMaxListeners(0);
  if (process.pid !== undefined) yieldToOthers(process.pid, limits.niceness);
  const ended = failureOf(process, limits);
  return {
    process,
    limits,
    ended,
    // A message that does not arrive is one to a child that has ended.
    send: (message) => void process.send(message, () => {}),
    async end() {
      process.kill('SIGKILL');
      await ended;
    },
    keep(isKept) {
      const handles = [process, process.channel, process.stderr instanceof Socket ? process.stderr : null];
      for (const one of handles) isKept ? one?.ref() : one?.unref();
    },
  };
}

const BINDING = ['--pdeathsig', 'KILL'];
let canBind: boolean | undefined;

/**
 * A child that computes does not notice that this process was killed, and its time limit is watched from here. Linux ends it, if the program of util-linux that
 * asks for that is there. Without it, the child ends when it has computed.
 */
function boundToThis(options: string[]): { execPath?: string; execArgv: string[] } {
  canBind ??= process.platform === 'linux' && spawnSync('setpriv', [...BINDING, 'true']).status === 0;
  return canBind ? { execPath: 'setpriv', execArgv: [...BINDING, process.execPath, ...options] } : { execArgv: options };
}

const NICENESS = 10;

/** On a machine with few processors, what many callers wait for comes before the work for one. */
function yieldToOthers(pid: number, niceness = NICENESS): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // It has ended already.
  }
}

const LAST_WORDS = 4_096;

async function failureOf(process: ChildProcess, { heapMb }: ChildLimits): Promise<ChildFailure> {
  let lastWords = '';
  process.stderr?.on('data', (bytes: Buffer) => {
    lastWords = (lastWords + bytes.toString()).slice(-LAST_WORDS);
  });
  process.on('error', () => {});
  const [code, signal] = await once(process, 'close').catch((error: unknown) => [messageOf(error), null]);
  if (lastWords.includes('out of memory')) return new ChildFailure('memory', `needed more than ${heapMb} MB of memory`);
  return new ChildFailure('crash', signal === null ? `ended early with code ${code}` : `was ended by ${signal}`, { cause: lastWords });
}

export interface Exchange<Question> {
  /** Answers the questions of the child, such as for a part of a file. */
  answer?: (question: Question) => Promise<unknown>;
  signal?: AbortSignal;
}

/** Runs work on untrusted input in a process of its own, so that it can neither block nor end this process. */
export async function runInChild<Question>(
  module: URL,
  task: unknown,
  { limits, ...exchange }: Exchange<Question> & { limits: ChildLimits },
): Promise<unknown> {
  const child = startChild(module, limits);
  try {
    return await resultOf(child, { task, n: 0 }, exchange);
  } finally {
    await child.end();
  }
}

/** Gives the task to the child, answers its questions, and waits for the result. Fails with the error of an answer, or with the reason of the signal. */
export async function resultOf<Question>(child: Child, task: ChildTask, { answer, signal }: Exchange<Question>): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const watch = watchTime(child.process.pid, child.limits, (exceeded) => reject(new ChildFailure('time', `took longer than ${exceeded}`)));
  let asked = 0;
  const reply = async ({ ask, question }: { ask: number; question: Question }): Promise<void> => {
    if (asked++ === 0) watch.pause();
    try {
      child.send({ ask, answer: await answer?.(question) });
      if (--asked === 0) watch.resume();
    } catch (error) {
      reject(error);
    }
  };
  const listen = (message: ChildMessage<Question>): void => {
    // A task that failed may have left something behind that still asks questions.
    if (message.of !== task.n) return;
    if ('ask' in message) void reply(message);
    else if ('result' in message) resolve(message.result);
    else reject(new TaskError(message.error));
  };
  const abort = (): void => reject(signal?.reason);
  const fail = (): void => void child.ended.then(reject);
  child.process.on('message', listen);
  child.process.on('close', fail);
  if (hasEnded(child)) fail();
  signal?.addEventListener('abort', abort);
  try {
    if (signal?.aborted) abort();
    else child.send(task);
    return await promise;
  } finally {
    watch.stop();
    signal?.removeEventListener('abort', abort);
    child.process.off('message', listen);
    child.process.off('close', fail);
  }
}

function hasEnded({ process: { pid, exitCode, signalCode } }: Child): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}
