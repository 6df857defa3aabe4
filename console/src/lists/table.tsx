import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useCallback, useEffect, useId, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { Failure, Loading } from '../parts/states.tsx';
import { usePreferences } from '../theme/preferences.ts';
import type { List } from './infinite.ts';
import css from './table.module.css';

export interface Column<Row> {
  id: string;
  label: string;
  /** A track of a CSS grid: `80px`, `minmax(200px, 3fr)`. */
  width: string;
  /** The sort key of the API, if the list can be sorted by it. */
  sort?: string;
  /** Hidden on narrow screens, where rows become cards. */
  isMinor?: true;
  /** Hidden if the list is narrower than this many pixels. */
  from?: number;
  align?: 'end';
  /** For all cells of the column, instead of an element inside each of them. */
  className?: string;
  cell(row: Row): ReactNode;
  /** Shown when somebody points at the cell: what is cut, or more exact. */
  hint?(row: Row): string | null;
}

export interface Selection {
  has: (id: string) => boolean;
  toggle: (id: string, index: number, range: boolean) => void;
}

interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  list: List<Row>;
  /** Position of the row that keys act on. */
  active: number;
  onActive: (index: number) => void;
  onOpen: (row: Row, index: number) => void;
  selection?: Selection;
  sort?: string | undefined;
  onSort?: (sort: string) => void;
  empty: ReactNode;
}

const heights = { compact: 28, normal: 36, comfortable: 44 };
const CARD_HEIGHT = 112;
const narrow = matchMedia('(max-width: 720px)');
const onNarrow = (listener: () => void) => {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
};

/** A long list as a grid: only the rows on the screen are in the page. Rows are plain HTML, because components in hundreds of rows are slow. */
export function Table<Row extends { id: string }>(props: TableProps<Row>) {
  const { label, list, active, onActive, onOpen, selection, empty } = props;
  const { density } = usePreferences();
  const isNarrow = useSyncExternalStore(onNarrow, () => narrow.matches);
  const height = isNarrow ? CARD_HEIGHT : heights[density];
  const scroller = useRef<HTMLTableElement>(null);
  const id = useId();
  const [measure, width] = useWidth();
  const scrollerRef = useCallback(
    (element: HTMLTableElement | null) => {
      scroller.current = element;
      return measure(element);
    },
    [measure],
  );
  const columns = useMemo(() => props.columns.filter(({ from = 0 }) => isNarrow || width === 0 || width >= from), [props.columns, width, isNarrow]);
  const virtual = useVirtualizer({ count: list.count, getScrollElement: () => scroller.current, estimateSize: () => height, overscan: 2 });
  const items = virtual.getVirtualItems();
  const from = items[0]?.index ?? 0;
  const to = items.at(-1)?.index ?? 0;
  const keyOf = useKeys(from, to);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `list` is new with each render; the positions say when something may be missing.
  useEffect(() => {
    list.reach(to);
    if (from > 0) list.reach(from);
  }, [from, to, list.count]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of density measures all rows again.
  useEffect(() => virtual.measure(), [height]);
  useEffect(() => {
    if (active >= 0) virtual.scrollToIndex(active, { align: 'auto' });
  }, [active, virtual]);

  if (list.error) return <Failure error={list.error} onRetry={list.refetch} />;
  if (list.isLoading) return <Loading rows={12} />;
  if (list.count === 0) return empty;
  const tracks = [...(selection ? ['36px'] : []), ...columns.map((column) => column.width)];
  const rowId = (index: number) => `${id}-${index}`;
  return (
    // Rows are placed by script, which takes their roles from tables: they are given again.
    <table
      ref={scrollerRef}
      className={css.scroller}
      data-stale={list.isPlaceholder || undefined}
      role="grid"
      aria-label={label}
      aria-rowcount={list.total?.relation === 'exact' ? list.total.count + 1 : -1}
      aria-activedescendant={active >= from && active <= to ? rowId(active) : undefined}
      aria-multiselectable={selection !== undefined}
      tabIndex={0}
      onPointerMove={showHint}
      style={{ '--columns': tracks.join(' '), '--height': `${height}px`, '--min': `${leastWidth(tracks)}px` } as React.CSSProperties}
    >
      <Head {...props} columns={columns} />
      <tbody className={css.body} role="rowgroup" style={{ height: virtual.getTotalSize(), paddingTop: items[0]?.start ?? 0 }}>
        {items.map(({ index }) => {
          const row = list.row(index);
          return row === undefined ? (
            <tr key={keyOf(index)} className={css.row} role="row" tabIndex={-1} aria-rowindex={index + 2}>
              <td role="gridcell" />
            </tr>
          ) : (
            <MemoRow
              key={keyOf(index)}
              id={index === active ? rowId(index) : undefined}
              row={row}
              index={index}
              columns={columns}
              isActive={index === active}
              isSelected={selection?.has(row.id) ?? null}
              onToggle={selection?.toggle}
              onChoose={(position, isOpening) => {
                onActive(position);
                const chosen = list.row(position);
                if (isOpening && chosen) onOpen(chosen, position);
              }}
            />
          );
        })}
      </tbody>
    </table>
  );
}

/**
 * Which elements show which rows. If rows stay on the screen, they keep theirs. If all are new, they get the elements of the rows before them, in the same
 * order: a browser takes as long to move an element as to create it, and much longer than to change its text.
 */
function useKeys(from: number, to: number): (index: number) => number {
  const last = useRef({ from, to, first: from });
  const { current } = last;
  const isJump = from > current.to || to < current.from;
  last.current = { from, to, first: isJump ? current.first + from - current.from : current.first };
  return (index) => index - last.current.first;
}

/** A browser computes the style of an element again when its title changes. In a list that jumps those would be all cells, so a cell gets its title late. */
function showHint({ target }: React.PointerEvent): void {
  const cell = (target as Element).closest('td');
  const hint = cell?.dataset.hint ?? '';
  if (cell && cell.title !== hint) cell.title = hint;
}

/** The width of an element, and each change of it. The first value is the reference of the element. */
function useWidth(): [(element: HTMLElement | null) => (() => void) | undefined, number] {
  const [width, setWidth] = useState(0);
  const measure = useCallback((element: HTMLElement | null) => {
    if (element === null) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [measure, width];
}

const GAP = 12;
const PADDING = 32;
/** Head and rows are grids of their own, which agree on their columns only if they are equally wide. */
function leastWidth(columns: readonly string[]): number {
  return columns.reduce((sum, width) => sum + Number(/\d+/.exec(width)?.[0] ?? 0) + GAP, PADDING - GAP);
}

function Head<Row>({ columns, selection, sort, onSort }: TableProps<Row>) {
  return (
    <thead className={css.head} role="rowgroup">
      <tr className={css.columns} role="row" tabIndex={-1} aria-rowindex={1}>
        {selection && (
          <th role="columnheader">
            <span className="visually-hidden">Selected</span>
          </th>
        )}
        {columns.map((column) => {
          const direction = sort === column.sort ? 'ascending' : sort === `-${column.sort}` ? 'descending' : undefined;
          return (
            <th key={column.id} role="columnheader" aria-sort={column.sort ? (direction ?? 'none') : undefined} data-align={column.align}>
              {column.sort && onSort ? (
                <button type="button" onClick={() => onSort(direction === 'descending' ? `${column.sort}` : `-${column.sort}`)}>
                  {column.label}
                  <span aria-hidden="true">{direction === undefined ? '' : direction === 'ascending' ? ' ↑' : ' ↓'}</span>
                </button>
              ) : (
                column.label
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** Rows of any list: their columns were made for them. */
type AnyColumn = Column<{ id: string }>;

interface RowProps {
  /** Only the active row is referred to. */
  id: string | undefined;
  row: { id: string };
  index: number;
  columns: readonly AnyColumn[];
  isActive: boolean;
  isSelected: boolean | null;
  onToggle: Selection['toggle'] | undefined;
  onChoose: (index: number, isOpening: boolean) => void;
}

function Row({ id, row, index, columns, isActive, isSelected, onToggle, onChoose }: RowProps) {
  return (
    <tr
      id={id}
      className={css.row}
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      aria-selected={isSelected ?? undefined}
      data-active={isActive || undefined}
      onClick={(event) => {
        const target = event.target as Element;
        if (target.closest('a,button')) return;
        if (target.closest('label') || event.shiftKey || event.ctrlKey || event.metaKey) {
          event.preventDefault();
          onToggle?.(row.id, index, event.shiftKey);
          onChoose(index, false);
        } else onChoose(index, true);
      }}
    >
      {isSelected !== null && (
        <td role="gridcell" className={css.select}>
          <label>
            <input type="checkbox" checked={isSelected} readOnly tabIndex={-1} aria-label="Select the row" />
          </label>
        </td>
      )}
      {columns.map((column) => (
        <td
          key={column.id}
          role="gridcell"
          className={column.className}
          data-column={column.id}
          data-minor={column.isMinor}
          data-align={column.align}
          data-label={column.align && column.label}
          data-hint={column.hint?.(row) ?? undefined}
        >
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

const MemoRow = memo(
  Row,
  (before, after) =>
    before.row === after.row &&
    before.index === after.index &&
    before.isActive === after.isActive &&
    before.isSelected === after.isSelected &&
    before.columns === after.columns,
);
