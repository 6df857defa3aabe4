import { Link } from '@tanstack/react-router';
import css from './overview.module.css';

export interface Counted {
  label: string;
  value: string;
  /** The query of the list that it counts. */
  search?: Record<string, string>;
}

/** Numbers with their names. Those with a query lead to the list that they count. */
export function Numbers({ rows, to = '/findings' }: { rows: readonly Counted[]; to?: string }) {
  return (
    <ul className={css.numbers}>
      {rows.map(({ label, value, search }) => (
        <li key={label}>
          {search ? (
            <Link to={to} search={search}>
              <strong>{value}</strong> <span className="dim">{label}</span>
            </Link>
          ) : (
            <>
              <strong>{value}</strong> <span className="dim">{label}</span>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
