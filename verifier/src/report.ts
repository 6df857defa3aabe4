import { FormatError, type PackageStatus } from '@rrs/evidence-format';
import { CODES, type Code, LAYERS, type LayerName } from './codes.ts';
import { LIMITS } from './limits.ts';
import type { TrustCode } from './taken-on-trust.ts';

/** codes.ts explains the codes. `file` is a path in the package, the name of a ZIP entry, or empty if the failure concerns the whole package. */
export interface Failure {
  code: Code;
  file: string;
  detail: string;
  expected?: string;
  actual?: string;
}

export interface Layer {
  name: LayerName;
  result: 'pass' | 'fail' | 'not_present' | 'not_checked';
  detail: string;
}

export interface PackageSummary {
  id: string;
  organization: { id: string; name: string };
  work_item: { id: string; title: string };
  sequence: number;
  conclusion: string;
  reasons: string[];
  grade: string;
  gaps: { code: string; weight: string; what: string }[];
  generated_at: string;
  supersedes: { package_id: string; sequence: number } | null;
  files: number;
  bytes: number;
  timestamps: { time: string; authority: string; trusted: boolean }[];
  log: { origin: string; epoch: number; index: number; size: number; root: string } | null;
  witnesses: WitnessSummary[];
  keys: { package: string | null; log: string | null; note: string | null };
}

/** A signature of a witness under the checkpoint. Only those of the caller's witness keys are verified. */
export interface WitnessSummary {
  name: string;
  time: string;
  trusted: boolean;
}

/** What the caller's status statement says about the package, or why it says nothing about it. */
export interface StatusResult {
  statement: PackageStatus | null;
  problem: string | null;
}

export interface Report {
  /** Whose package it is, and whether the caller stated whose it must be. Null if the content was not read. */
  owner: { organization: { id: string; name: string }; origin: string; expected: boolean } | null;
  /** `consistent`: no check failed, but not everything is proven because the caller did not supply all trusted keys. */
  verdict: 'verified' | 'consistent' | 'failed';
  failures: Failure[];
  layers: Layer[];
  package: PackageSummary | null;
  /** What the caller's status statement says. Null if there is none, or if it was not read. */
  status: StatusResult | null;
  notes: string[];
  /** What the verdict does not cover: taken-on-trust.ts explains the codes. */
  taken_on_trust: TrustCode[];
}

type Found = Omit<Failure, 'code' | 'file'>;

/** Collects the results of the checks. A layer passes only if its check says so and nothing in it failed. */
export interface Recorder {
  fail(code: Code, file: string, found: string | Found): void;
  setLayer(name: LayerName, result: Layer['result'], detail: string): void;
  note(sentence: string): void;
  /** Stops checking if the time limit is reached. Loops over content of the package call it. */
  tick(): void;
  /** Runs a check and records an exception as a failure with the given code. */
  guard<T>(code: Code, file: string, check: () => T | Promise<T>): Promise<T | null>;
  failed(layer: LayerName): boolean;
  failures: Failure[];
  notes: string[];
  layers(): Layer[];
}

/** Ends all checks. The failures that were recorded before remain. */
export class CheckingStopped extends Error {
  override readonly name = 'CheckingStopped';
}

/** `timeLimit` is in milliseconds. */
export function createRecorder(timeLimit = Number.POSITIVE_INFINITY): Recorder {
  const end = performance.now() + timeLimit;
  const failures: Failure[] = [];
  const failing = new Map<LayerName, number>();
  const notes: string[] = [];
  const results = new Map<LayerName, Layer>();

  function fail(code: Code, file: string, found: string | Found): void {
    const { layer } = CODES[code];
    failing.set(layer, (failing.get(layer) ?? 0) + 1);
    failures.push({ code, file, ...(typeof found === 'string' ? { detail: found } : found) });
    if (failures.length < LIMITS.failures) return;
    notes.push(`Checking stopped after ${LIMITS.failures} failures. There may be more.`);
    throw new CheckingStopped();
  }

  function tick(): void {
    if (performance.now() < end) return;
    fail('deadline', '', `The package was not checked completely within ${timeLimit / 1000} seconds.`);
    throw new CheckingStopped();
  }

  return {
    failures,
    notes,
    fail,
    tick,
    setLayer: (name, result, detail) => void results.set(name, { name, result, detail }),
    note: (sentence) => void notes.push(sentence),
    failed: (layer) => failing.has(layer),
    async guard(code, file, check) {
      try {
        tick();
        return await check();
      } catch (error) {
        if (error instanceof CheckingStopped) throw error;
        fail(code, file, detailOf(error));
        return null;
      }
    },
    layers: () =>
      LAYERS.map((name) => {
        const count = failing.get(name);
        if (count !== undefined) return { name, result: 'fail', detail: count === 1 ? '1 failure' : `${count} failures` };
        return (
          results.get(name) ?? { name, result: 'not_checked', detail: 'not checked, because checking stopped or data that it depends on could not be read' }
        );
      }),
  };
}

function detailOf(error: unknown): string {
  if (error instanceof FormatError) return `Invalid format: ${error.message}.`;
  return error instanceof Error ? error.message : String(error);
}
