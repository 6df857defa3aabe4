import { Button } from '@mantine/core';
import type { ListedFinding } from '@rrs/client';
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { queries, readOf } from '../../../api/client.ts';
import { followFindings, forgetChanges, useChanges } from '../../../api/live.ts';
import { useCommands } from '../../../keys/keys.ts';
import { ChangesBar } from '../../../lists/changes-bar.tsx';
import { restartLists, totalOf, useList } from '../../../lists/infinite.ts';
import { change, useQueryString } from '../../../lists/query.ts';
import { useSelection } from '../../../lists/selection.ts';
import { Table } from '../../../lists/table.tsx';
import { Boundary } from '../../../parts/states.tsx';
import { number } from '../../../parts/words.ts';
import { showChanged } from '../triage/apply.ts';
import { useTriage } from '../triage/use-triage.ts';
import { VerbButtons } from '../triage/verb-buttons.tsx';
import type { Target } from '../triage/verbs.ts';
import { useFindingColumns } from './columns.tsx';
import css from './findings-page.module.css';
import { Frame } from './frame.tsx';
import { Nothing } from './nothing.tsx';
import { Total } from './total.tsx';

const Drawer = lazy(async () => ({ default: (await import('../detail/drawer.tsx')).Drawer }));
const Groups = lazy(async () => ({ default: (await import('./groups.tsx')).Groups }));
const TriageDialog = lazy(async () => ({ default: (await import('../triage/triage-dialog.tsx')).TriageDialog }));

export function FindingsPage() {
  const [query, setQuery] = useQueryString();
  const { open: _open, group, ...listQuery } = query;
  if (group === undefined) return <FindingList />;
  return (
    <Frame query={query} onChange={setQuery}>
      <Suspense>
        <Groups
          by={group}
          query={listQuery}
          onOpen={(added) => setQuery({ ...added, group: null, sort: '-risk_score' })}
          onSort={(sort) => setQuery({ sort })}
        />
      </Suspense>
    </Frame>
  );
}

function FindingList() {
  const [query, setQuery] = useQueryString();
  const { open, ...listQuery } = query;
  const list = useList('listFindings', listQuery);
  const columns = useFindingColumns();
  const [active, setActive] = useState(-1);
  const idAt = useCallback((index: number) => list.row(index)?.id, [list.row]);
  const selection = useSelection(idAt);
  const [isAll, setAll] = useState(false);
  const filter = change(listQuery, { sort: null });
  const key = JSON.stringify(listQuery);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter is another list, and nothing in it is chosen yet.
  useEffect(() => {
    setActive(-1);
    setAll(false);
    selection.clear();
  }, [key]);

  // A link to an open finding: keys go on from there.
  const opened = active < 0 && open !== undefined ? list.rows.findIndex(({ id }) => id === open) : -1;
  useEffect(() => {
    if (opened >= 0) setActive(opened);
  }, [opened]);
  const changes = useChanges('listFindings');
  useRowsInPlace(list.rows);
  const showChanges = () => {
    forgetChanges('listFindings');
    void restartLists('listFindings');
  };
  const target = (): Target | null => {
    if (isAll) return { filter, count: totalOf(list.total) };
    if (selection.ids.size > 0) return { findings: list.rows.filter(({ id }) => selection.ids.has(id)) };
    const row = list.row(active) ?? list.rows.find(({ id }) => id === open);
    return row ? { findings: [row] } : null;
  };
  const triage = useTriage(target);
  const { calmly, cancel } = useCalmly();
  const show = (id: string | null) => {
    cancel();
    setQuery({ open: id }, { replace: open !== undefined && id !== null });
  };
  const move = (by: number) => {
    const next = Math.max(0, Math.min(list.count - 1, active + by));
    const row = list.row(next);
    setActive(next);
    if (row === undefined) return;
    calmly(() => {
      if (open !== undefined) show(row.id);
      readAhead(list.row, next);
    });
  };
  const extend = (by: 1 | -1) => {
    const rows = [list.row(Math.max(0, active)), list.row(active + by)].flatMap((row) => row?.id ?? []);
    selection.set([...selection.ids, ...rows]);
    move(by);
  };
  useCommands({
    'show-changes': showChanges,
    'extend-down': () => extend(1),
    'extend-up': () => extend(-1),
    next: () => move(1),
    previous: () => move(-1),
    open: () => {
      const row = list.row(active);
      if (row) show(open === row.id ? null : row.id);
    },
    select: () => {
      const row = list.row(active);
      if (row) selection.toggle(row.id, active, false);
    },
    'select-range': () => {
      const row = list.row(active);
      if (row) selection.toggle(row.id, active, true);
    },
    'select-all': () => selection.set(list.rows.map(({ id }) => id)),
    close: () => {
      if (selection.ids.size > 0) {
        setAll(false);
        selection.clear();
      } else if (open !== undefined) show(null);
    },
  });
  return (
    <Frame query={query} total={<Total total={list.total} query={listQuery} />} onChange={setQuery}>
      <div className={css.split}>
        <div className={css.list}>
          <ChangesBar count={changes} what="Findings" onShow={showChanges} />
          <Table
            label="Findings"
            columns={columns}
            list={list}
            active={active}
            onActive={setActive}
            onOpen={({ id }: ListedFinding) => show(id)}
            selection={selection}
            sort={query.sort}
            onSort={(sort) => setQuery({ sort })}
            empty={<Nothing query={filter} />}
          />
          {selection.ids.size > 0 && (
            <section className={css.bulk} aria-label="Selected findings">
              <strong>{isAll ? `All ${totalOf(list.total)} findings` : `${number(selection.ids.size)} selected`}</strong>
              {!isAll && list.total !== null && selection.ids.size < list.total.count && (
                <Button variant="subtle" onClick={() => setAll(true)}>
                  Select all {totalOf(list.total)} that match
                </Button>
              )}
              <VerbButtons ask={triage.ask} />
              <Button
                variant="subtle"
                onClick={() => {
                  setAll(false);
                  selection.clear();
                }}
              >
                Clear
              </Button>
            </section>
          )}
        </div>
        {open !== undefined && (
          <Boundary key={open}>
            <Suspense>
              <Drawer id={open} onClose={() => show(null)} ask={triage.ask} onMove={move} isFirst={active <= 0} isLast={active >= list.count - 1} />
            </Suspense>
          </Boundary>
        )}
      </div>
      <Suspense>{triage.asked && <TriageDialog {...triage.asked} onClose={triage.close} />}</Suspense>
    </Frame>
  );
}

const CALM_MS = 120;

/** Runs at once what a key asks for. While a key is held, only what its last repetition asks for: each row would be several requests. */
function useCalmly() {
  const last = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const cancel = () => clearTimeout(timer.current);
  useEffect(() => () => clearTimeout(timer.current), []);
  const calmly = (run: () => void) => {
    cancel();
    const isHeld = performance.now() - last.current < CALM_MS;
    last.current = performance.now();
    if (isHeld) timer.current = setTimeout(run, CALM_MS);
    else run();
  };
  return { calmly, cancel };
}

/** One request. An import that changes more is better looked at as a new list, which the bar offers. */
const MOST_IN_PLACE = 200;

/** What others change is shown in the rows that are here. They stay where they are, also if the filter no longer matches. */
function useRowsInPlace(rows: readonly ListedFinding[]): void {
  const current = useRef(rows);
  current.current = rows;
  useEffect(
    () =>
      followFindings((ids) => {
        const isHere = new Set(current.current.map(({ id }) => id));
        // A failure is no reason to complain: the rows are as they were, and the bar says that something changed.
        if (!document.hidden && ids.some((id) => isHere.has(id))) void showChanged(Math.min(MOST_IN_PLACE, new Set(ids).size)).catch(() => {});
      }),
    [],
  );
}

/** The drawer of the next rows opens at once. */
function readAhead(row: (index: number) => ListedFinding | undefined, index: number): void {
  for (const near of [index, index + 1, index + 2]) {
    const id = row(near)?.id;
    if (id !== undefined) void queries.prefetchQuery({ ...readOf('getFinding', { path: { id } }), staleTime: 30_000 });
  }
}
