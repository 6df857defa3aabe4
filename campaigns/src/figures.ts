/** What a campaign measured and what it found wrong. */
export interface Outcome {
  figures: readonly (readonly [what: string, value: string | number])[];
  /** Empty if everything held. */
  violations: readonly string[];
}

const SHOWN = 50;

/** Prints the outcome. The process ends with code 1 if something did not hold. */
export function print(name: string, { figures, violations }: Outcome): void {
  const width = Math.max(...figures.map(([what]) => what.length));
  const lines = figures.map(([what, value]) => `  ${what.padEnd(width)}  ${value}`);
  const found = violations.slice(0, SHOWN).map((violation) => `✘ ${violation}`);
  const more = violations.length > SHOWN ? [`… and ${violations.length - SHOWN} more`] : [];
  process.stdout.write(
    `${[name, ...lines, ...found, ...more, violations.length === 0 ? '✔ everything held' : `${violations.length} violations`].join('\n')}\n`,
  );
  if (violations.length > 0) process.exitCode = 1;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
