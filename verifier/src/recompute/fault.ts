import type { Code } from '../codes.ts';

/** A statement of the package that is false. */
export interface Fault {
  code: Code;
  /** Path in the package. */
  file: string;
  detail: string;
  expected?: string;
  actual?: string;
}

export const EVIDENCE = 'data/evidence.json';
export const FINDINGS = 'data/findings.jsonl';
export const TRAIL = 'data/audit-trail.jsonl';
