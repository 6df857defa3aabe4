import { Link } from '@tanstack/react-router';
import type { Query } from '../../lists/query.ts';
import css from './view-switch.module.css';

/** The same filters as a list or as a board. */
export function ViewSwitch({ query }: { query: Query }) {
  return (
    <nav className={css.switch} aria-label="List or board">
      <Link to="/work" search={query} activeOptions={{ exact: true, includeSearch: false }}>
        List
      </Link>
      <Link to="/work/board" search={query} activeOptions={{ exact: true, includeSearch: false }}>
        Board
      </Link>
    </nav>
  );
}
