import type { Report, Source, Trust } from '@rrs/verifier';
import { createSlots } from '../../jobs/slots.ts';
import { runInThread, ThreadFailure, type ThreadLimits } from '../../jobs/thread.ts';
import { AppError } from '../../shared/errors.ts';
import type { ReadQuestion, VerifyInput } from './verify-thread.ts';

const LIMITS: ThreadLimits = { heapMb: 768, timeMs: 120_000 };
/** Bounds the memory of all verifications together. Further requests wait, then are refused. */
const MAX_RUNNING = 2;
const MAX_WAITING = 16;
/** As much as the verifier reads at a time. */
const SHARED_BYTES = 2 ** 20;

const slots = createSlots({ running: MAX_RUNNING, waiting: MAX_WAITING, refusal: 'Too many packages are being verified.' });

/** Verifies a package in a thread: anybody who may read evidence can upload a file that is made to exhaust memory or time. */
export function verifyInThread(source: Source, trust: Trust, limits: ThreadLimits = LIMITS): Promise<Report> {
  return slots.use(async () => {
    try {
      const shared = new SharedArrayBuffer(SHARED_BYTES);
      const input: VerifyInput = { size: source.size, trust, shared };
      const answer = async ({ offset, length }: ReadQuestion): Promise<void> => new Uint8Array(shared).set(await source.read(offset, length));
      return (await runInThread({ module: new URL('./verify-thread.ts', import.meta.url), input, limits, answer })) as Report;
    } catch (error) {
      throw error instanceof ThreadFailure ? problemOf(error) : error;
    }
  });
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
