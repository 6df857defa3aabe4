import css from './severity.module.css';
import { term } from './words.ts';

const bars = { critical: 4, high: 3, medium: 2, low: 1, info: 0, unknown: 0 } as const;
export type Severity = keyof typeof bars;
/** Those that a person can choose. */
export const severities: readonly Severity[] = ['critical', 'high', 'medium', 'low', 'info'];

/** A filled chip with the word and bars: severity is never shown by colour alone. */
export function SeverityChip({ severity }: { severity: Severity }) {
  return (
    <span className={css.chip} data-severity={severity}>
      <Bars severity={severity} />
      {term(severity)}
    </span>
  );
}

const barsFrom = (from: number, to: number): string =>
  [1, 2, 3, 4].flatMap((bar) => (bar > from && bar <= to ? [`M${(bar - 1) * 2.6} 10v-${2 + bar * 2}h1.8v${2 + bar * 2}z`] : [])).join('');

/** Two shapes instead of four: lists draw dozens of these per frame. */
function Bars({ severity }: { severity: Severity }) {
  return (
    <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true" fill="currentColor">
      <path d={barsFrom(0, bars[severity])} />
      <path d={barsFrom(bars[severity], 4)} opacity="0.3" />
    </svg>
  );
}
