/** What a campaign measured and what it found wrong. */
export interface Outcome {
  figures: readonly (readonly [what: string, value: string | number])[];
  /** Empty if everything held. */
  violations: readonly string[];
}

const SHOWN = 50;

function textOf(name: string, { figures, violations }: Outcome): string {
  const width = Math.max(...figures.map(([what]) => what.length));
  const lines = figures.map(([what, value]) => `  ${what.padEnd(width)}  ${value}`);
  const found = violations.slice(0, SHOWN).map((violation) => `✘ ${violation}`);
  const more = violations.length > SHOWN ? [`… and ${violations.length - SHOWN} more`] : [];
  return [name, ...lines, ...found, ...more, violations.length === 0 ? '✔ everything held' : `${violations.length} violations`].join('\n');
}

/** Prints the outcome. The process ends with code 1 if something did not hold. */
export function print(name: string, outcome: Outcome): void {
  process.stdout.write(`${textOf(name, outcome)}\n`);
  if (outcome.violations.length > 0) process.exitCode = 1;
}

/** For tests. Fails with the figures, which contain the seed, with what did not hold, and with the command that repeats it. */
export function assertHeld(name: string, outcome: Outcome, repeat: string): void {
  if (outcome.violations.length > 0) throw new Error(`${textOf(name, outcome)}\nRepeat it with: ${repeat}`);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
