import { CODES, type Code, LAYERS, type LayerName } from './codes.ts';

/** What the codes mean is in codes.ts. `file` is a path in the bag, the name of an entry where the ZIP is at fault, or empty for the package as a whole. */
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
  log: { origin: string; index: number; size: number; root: string } | null;
  keys: { package: string | null; log: string | null; note: string | null };
}

export interface Report {
  /** `consistent`: nothing is wrong, but nothing is proven either, because the caller did not say whom to trust. */
  verdict: 'verified' | 'consistent' | 'failed';
  failures: Failure[];
  layers: Layer[];
  package: PackageSummary | null;
  notes: string[];
}

type Found = Omit<Failure, 'code' | 'file'>;

/** Collects what the checks find. A layer counts as passed only when its check says so and nothing in it failed. */
export interface Findings {
  fail(code: Code, file: string, found: string | Found): void;
  settle(name: LayerName, result: Layer['result'], detail: string): void;
  note(sentence: string): void;
  /** Runs a check; whatever it throws is a failure with the given code. */
  guard<T>(code: Code, file: string, check: () => T | Promise<T>): Promise<T | null>;
  failed(layer: LayerName): boolean;
  failures: Failure[];
  notes: string[];
  layers(): Layer[];
}

/** A hostile package could hold a fault per entry. */
const MAX_FAILURES = 1000;

export function createFindings(): Findings {
  const failures: Failure[] = [];
  const failing = new Map<LayerName, number>();
  const notes: string[] = [];
  const settled = new Map<LayerName, Layer>();

  function fail(code: Code, file: string, found: string | Found): void {
    const { layer } = CODES[code];
    failing.set(layer, (failing.get(layer) ?? 0) + 1);
    if (failures.length < MAX_FAILURES) failures.push({ code, file, ...(typeof found === 'string' ? { detail: found } : found) });
    else if (failures.length === MAX_FAILURES)
      failures.push({ code, file: '', detail: `There are more than ${MAX_FAILURES} failures; the rest is not listed.` });
  }

  return {
    failures,
    notes,
    fail,
    settle: (name, result, detail) => void settled.set(name, { name, result, detail }),
    note: (sentence) => void notes.push(sentence),
    failed: (layer) => failing.has(layer),
    async guard(code, file, check) {
      try {
        return await check();
      } catch (error) {
        fail(code, file, error instanceof Error ? error.message : String(error));
        return null;
      }
    },
    layers: () =>
      LAYERS.map((name) => {
        const count = failing.get(name);
        if (count !== undefined) return { name, result: 'fail', detail: count === 1 ? 'one failure' : `${count} failures` };
        return settled.get(name) ?? { name, result: 'not_checked', detail: 'could not be checked, because what it rests on could not be read' };
      }),
  };
}
