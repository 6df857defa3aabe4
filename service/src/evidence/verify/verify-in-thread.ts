import type { Report, Source, Trust } from '@rrs/verifier';
import { runInThread, ThreadFailure, type ThreadLimits } from '../../jobs/thread.ts';
import { AppError } from '../../shared/errors.ts';
import type { ReadQuestion, VerifyInput } from './verify-thread.ts';

const LIMITS: ThreadLimits = { heapMb: 768, timeMs: 120_000 };
/** Bounds the memory of all verifications together. Further requests wait, then are refused. */
const MAX_RUNNING = 2;
const MAX_WAITING = 16;
/** As much as the verifier reads at a time. */
const SHARED_BYTES = 2 ** 20;

let running = 0;
const waiting: (() => void)[] = [];

/** Verifies a package in a thread: anybody who may read evidence can upload a file that is made to exhaust memory or time. */
export async function verifyInThread(source: Source, trust: Trust, limits: ThreadLimits = LIMITS): Promise<Report> {
  await takeSlot();
  try {
    const shared = new SharedArrayBuffer(SHARED_BYTES);
    const input: VerifyInput = { size: source.size, trust, shared };
    const answer = async ({ offset, length }: ReadQuestion): Promise<void> => new Uint8Array(shared).set(await source.read(offset, length));
    return (await runInThread({ module: new URL('./verify-thread.ts', import.meta.url), input, limits, answer })) as Report;
  } catch (error) {
    throw error instanceof ThreadFailure ? problemOf(error) : error;
  } finally {
    releaseSlot();
  }
}

async function takeSlot(): Promise<void> {
  if (running < MAX_RUNNING) {
    running++;
    return;
  }
  if (waiting.length >= MAX_WAITING)
    throw new AppError('unavailable', 'Too many packages are being verified. Retry later.', { headers: { 'retry-after': '30' } });
  await new Promise<void>((resolve) => waiting.push(resolve));
}

/** Passes the slot on to the next in line, if there is one. */
function releaseSlot(): void {
  const next = waiting.shift();
  if (next) next();
  else running--;
}

function problemOf(failure: ThreadFailure): AppError {
  if (failure.reason === 'crash')
    return new AppError('unavailable', `The verification ${failure.message}. Retry, and if it happens again, verify the package with rrs-verify.`, {
      cause: failure,
      headers: { 'retry-after': '5' },
    });
  return new AppError('unprocessable', `The package is not verified: the verification ${failure.message} and was stopped. Do not rely on this package.`, {
    cause: failure,
  });
}
