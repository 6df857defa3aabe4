import type { Report, Source, Trust } from '@rrs/verifier';
import { ChildFailure, type ChildLimits, runInChild } from '../../jobs/children/child.ts';
import { createSlots } from '../../jobs/slots.ts';
import { AppError } from '../../shared/errors.ts';
import type { ReadQuestion, VerifyTask } from './verify-child.ts';

const LIMITS: ChildLimits = { heapMb: 768, timeMs: 120_000 };
/** Bounds the memory of all verifications together. Further requests wait, then are refused. */
const MAX_RUNNING = 2;
const MAX_WAITING = 16;

const slots = createSlots({ running: MAX_RUNNING, waiting: MAX_WAITING, refusal: 'Too many packages are being verified.' });

/** Verifies a package in a child process: anybody who may read evidence can upload a file that is made to exhaust memory or time. */
export function verifyInChild(source: Source, trust: Trust, limits: ChildLimits = LIMITS): Promise<Report> {
  return slots.use(async () => {
    try {
      const task: VerifyTask = { size: source.size, trust };
      const answer = ({ offset, length }: ReadQuestion): Promise<Uint8Array> => source.read(offset, length);
      return (await runInChild(new URL('./verify-child.ts', import.meta.url), task, { limits, answer })) as Report;
    } catch (error) {
      throw error instanceof ChildFailure ? problemOf(error) : error;
    }
  });
}

function problemOf(failure: ChildFailure): AppError {
  if (failure.reason === 'crash')
    return new AppError('unavailable', `The verification ${failure.message}. Retry, and if it happens again, verify the package with rrs-verify.`, {
      cause: failure,
      headers: { 'retry-after': '5' },
    });
  return new AppError('unprocessable', `The package is not verified: the verification ${failure.message} and was stopped. Do not rely on this package.`, {
    cause: failure,
  });
}
