import { Link } from '@tanstack/react-router';
import { type Query, writeQuery } from './query.ts';
import css from './tabs.module.css';

export interface View {
  label: string;
  query: Query;
}

/** Named queries of a list. A tab is current if the address has exactly its filters. */
export function Tabs({ label, path, views, query }: { label: string; path: string; views: readonly View[]; query: Query }) {
  const current = keyOf(query);
  return (
    <nav className={css.tabs} aria-label={label}>
      {views.map((view) => (
        <Link
          key={`${view.label} ${keyOf(view.query)}`}
          to={path}
          search={view.query}
          className={css.tab}
          aria-current={keyOf(view.query) === current ? 'page' : undefined}
          activeOptions={{ exact: true }}
        >
          {view.label}
        </Link>
      ))}
    </nav>
  );
}

/** The filters of a query, in whatever order they are given. */
export function keyOf({ open: _open, group: _group, ...filters }: Query): string {
  return writeQuery(Object.fromEntries(Object.entries(filters).sort()));
}
