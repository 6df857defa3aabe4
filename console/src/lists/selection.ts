import { useCallback, useState } from 'react';
import type { Selection } from './table.tsx';

export interface RowSelection extends Selection {
  ids: ReadonlySet<string>;
  set: (ids: Iterable<string>) => void;
  clear: () => void;
}

/** The selected rows of a list. A range goes from the row that was selected last. */
export function useSelection(idAt: (index: number) => string | undefined): RowSelection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [anchor, setAnchor] = useState(0);
  const toggle = useCallback(
    (id: string, index: number, range: boolean) => {
      setAnchor(index);
      setIds((before) => {
        const next = new Set(before);
        if (!range) {
          if (!next.delete(id)) next.add(id);
          return next;
        }
        for (let at = Math.min(anchor, index); at <= Math.max(anchor, index); at++) {
          const each = idAt(at);
          if (each !== undefined) next.add(each);
        }
        return next;
      });
    },
    [anchor, idAt],
  );
  return { ids, has: (id) => ids.has(id), toggle, set: (all) => setIds(new Set(all)), clear: () => setIds(new Set()) };
}
