import { runInThread, type ThreadLimits } from '../../jobs/thread.ts';
import type { PdfResult } from './compare-pdf.ts';
import type { DeepFinding } from './deep-check.ts';

export interface DeepReport {
  findings: DeepFinding[];
  pdf: PdfResult;
}

export interface DeepInput {
  path: string;
  /** The version of this program. */
  version: string;
}

/** Checks a package in a thread with limits. Throws ThreadFailure if a limit is reached. */
export async function deepCheckFile(input: DeepInput, limits: ThreadLimits): Promise<DeepReport> {
  return (await runInThread({ module: new URL('./deep-thread.ts', import.meta.url), input, limits })) as DeepReport;
}
