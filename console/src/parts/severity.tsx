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

function Bars({ severity }: { severity: Severity }) {
  return (
    <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
      {[1, 2, 3, 4].map((bar) => (
        <rect key={bar} x={(bar - 1) * 2.6} y={8 - bar * 2} width="1.8" height={2 + bar * 2} fill="currentColor" opacity={bar <= bars[severity] ? 1 : 0.3} />
      ))}
    </svg>
  );
}
