import css from './severity.module.css';
import { term } from './words.ts';

export type Severity = 'critical' | 'high' | 'medium' | 'low' | 'info' | 'unknown';
/** Those that a person can choose. */
export const severities: readonly Severity[] = ['critical', 'high', 'medium', 'low', 'info'];

/** A filled chip with the word and bars: severity is never shown by colour alone. One element: lists draw dozens of these per frame. */
export function SeverityChip({ severity }: { severity: Severity }) {
  return (
    <span className={css.chip} data-severity={severity}>
      {term(severity)}
    </span>
  );
}
