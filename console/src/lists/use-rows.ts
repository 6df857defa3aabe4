import { useEffect, useState } from 'react';
import { type Handlers, useCommands } from '../keys/keys.ts';
import type { List } from './infinite.ts';
import type { Query } from './query.ts';

/** The keys of a list whose rows open: the row that keys act on, and what a table needs to know of it. */
export function useRows<Row>(list: List<Row>, query: Query, onOpen: (row: Row) => void, more: Handlers = {}) {
  const [active, setActive] = useState(-1);
  const key = JSON.stringify(query);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter is another list, and nothing in it is chosen yet.
  useEffect(() => setActive(-1), [key]);
  useCommands({
    next: () => setActive(Math.min(list.count - 1, active + 1)),
    previous: () => setActive(Math.max(0, active - 1)),
    open: () => {
      const row = list.row(active);
      if (row !== undefined) onOpen(row);
    },
    ...more,
  });
  return { list, active, onActive: setActive, onOpen };
}
