import type { InputOf } from '@rrs/client';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { readOf } from '../../../api/client.ts';
import { chipText } from '../../../lists/filters.ts';
import { totalOf } from '../../../lists/infinite.ts';
import { change, type Query } from '../../../lists/query.ts';
import { useValueNames } from '../../../lists/value-names.ts';
import { Empty } from '../../../parts/states.tsx';
import { findingFilters } from './filters.ts';
import css from './nothing.module.css';

const MOST_FILTERS = 6;

/** Why the list is empty: nothing is there yet, or which filter is in the way. */
export function Nothing({ query }: { query: Query }) {
  const chosen = findingFilters.filter(({ name }) => query[name] !== undefined).slice(0, MOST_FILTERS);
  const nameOf = useValueNames(chosen);
  const without = useQueries({
    queries: chosen.map(({ name }) => ({
      ...readOf('listFindings', { query: { ...change(query, { [name]: null }), limit: 1, total: 'bounded' } } as InputOf<'listFindings'>),
      enabled: chosen.length > 1,
    })),
  });
  if (Object.keys(query).length === 0)
    return (
      <Empty
        title="No findings yet"
        actions={
          <>
            <Link to="/imports">Import a report</Link>
            <Link to="/integrations/new">Connect a scanner</Link>
          </>
        }
      >
        Import the report of a scanner, or connect one. Its findings appear here.
      </Empty>
    );
  const ways = chosen.flatMap((filter, index) => {
    const total = without[index]?.data?.page.total ?? null;
    return total === null || total.count === 0 ? [] : [{ filter, total }];
  });
  return (
    <Empty
      title="No findings match"
      actions={
        <Link to="/findings" search={{}}>
          Show all findings
        </Link>
      }
    >
      {ways.length === 0 ? 'Remove some of the filters above, or look at all findings.' : 'Remove one filter to see more:'}
      {ways.map(({ filter, total }) => (
        <Link key={filter.name} className={css.way} to="/findings" search={change(query, { [filter.name]: null })}>
          Without “{chipText(filter, query[filter.name] ?? '', nameOf)}”: {totalOf(total)}
        </Link>
      ))}
    </Empty>
  );
}
