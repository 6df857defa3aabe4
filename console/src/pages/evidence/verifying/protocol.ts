import type { Report } from '@rrs/verifier';
import type { Statements } from './statements.ts';

/** A file that people trust: keys, certificates, checkpoints, proofs, a status statement. */
export interface GivenFile {
  name: string;
  text: string;
}

export interface Trusted {
  files: readonly GivenFile[];
  /** What the package must belong to. Empty if any will do. */
  organization: string;
  origin: string;
}

/** What the worker is asked for. */
export interface Task extends Trusted, Others {
  file: Blob;
}

/** Other packages of the work item, to compare the package with. */
export interface Others {
  /** The package must still show everything that this one showed. */
  earlier?: File | null;
  /** If it is valid, the package is superseded. */
  newer?: File | null;
}

export interface Verified {
  report: Report;
  /** Whether a status statement or a newer package shows it. */
  isSuperseded: boolean;
  /** What evidence.json says. Null if it was not read. */
  statements: Statements | null;
}

/** What the worker answers: how far it is, then a result or the reason why one of the given files cannot be used. */
export type Answer = { share: number } | { verified: Verified } | { refused: string };
