import { type ChildLimits, runInChild } from '../../jobs/children/child.ts';
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

/** Checks a package in a child process with limits. Throws ChildFailure if a limit is reached. */
export async function deepCheckFile(input: DeepInput, limits: ChildLimits): Promise<DeepReport> {
  return (await runInChild(new URL('./deep-child.ts', import.meta.url), input, { limits })) as DeepReport;
}
