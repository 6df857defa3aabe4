import { Button } from '@mantine/core';
import type { ListedWorkItem, SettableWorkItemStatus, WorkItem, WorkItemStatus } from '@rrs/client';
import { lazy, Suspense, useRef, useState } from 'react';
import { useMay } from '../../../api/session.ts';
import { useCommands } from '../../../keys/keys.ts';
import { FilterBar } from '../../../lists/filter-bar.tsx';
import { change, type Query, useQueryString } from '../../../lists/query.ts';
import { Page } from '../../../parts/page.tsx';
import { Boundary, Failure, messageOf } from '../../../parts/states.tsx';
import { announce } from '../../../parts/toast.tsx';
import { term } from '../../../parts/words.ts';
import { workFilters, workStatuses } from '../filters.ts';
import { move, readItem } from '../move.ts';
import { ViewSwitch } from '../view-switch.tsx';
import css from './board.module.css';
import { useBoard } from './board.ts';
import { BoardColumn } from './board-column.tsx';

const NewItemDialog = lazy(async () => ({ default: (await import('../new-item-dialog.tsx')).NewItemDialog }));
const MoveDialog = lazy(async () => ({ default: (await import('../move-dialog.tsx')).MoveDialog }));

const filters = workFilters.filter(({ name }) => name !== 'status');

/** Work items in columns by status. Cards move by drag, by key and with the button of each card. */
export function BoardPage() {
  const [query, setQuery] = useQueryString();
  const filter = change(query, { status: null, sort: null });
  const may = useMay('work_items:manage');
  const columns = useBoard(filter as Query);
  const board = useRef<HTMLElement>(null);
  const [asked, setAsked] = useState<{ item: WorkItem; to?: SettableWorkItemStatus } | null>(null);
  const [isCreating, setCreating] = useState(false);
  const fail = (error: unknown) => announce(messageOf(error), { isBad: true });

  /** Moves a card to a column, or says why it cannot go there. */
  const drop = async (id: string, to: WorkItemStatus) => {
    const item = await readItem(id);
    if (item.status === to) return;
    const transition = item.transitions.find((each) => each.to === to);
    if (transition === undefined) return announce(whyNot(item, to), { isBad: true });
    if (transition.refused !== null) return announce(transition.refused, { isBad: true });
    if (transition.needs.length > 0) return setAsked({ item, to: transition.to });
    await move(item, transition.to);
  };
  const ask = (id: string) => void readItem(id).then((item) => setAsked({ item }), fail);

  const shift = (by: 1 | -1) => {
    const card = focused(board.current);
    const next = card && workStatuses[workStatuses.indexOf(card.status) + by];
    if (card === null) return announce('Choose a card first, with the arrow keys.');
    if (next) void drop(card.id, next).catch(fail);
  };
  useCommands({
    next: () => step(board.current, 0, 1),
    previous: () => step(board.current, 0, -1),
    left: () => step(board.current, -1, 0),
    right: () => step(board.current, 1, 0),
    ...(may
      ? {
          'move-left': () => shift(-1),
          'move-right': () => shift(1),
          status: () => {
            const card = focused(board.current);
            if (card === null) return announce('Choose a card first, with the arrow keys.');
            ask(card.id);
          },
          create: () => setCreating(true),
        }
      : {}),
  });
  return (
    <Page
      title="Work"
      actions={
        <>
          <ViewSwitch query={query} />
          {may && <Button onClick={() => setCreating(true)}>New work item</Button>}
        </>
      }
      bar={<FilterBar filters={filters} query={filter} onChange={setQuery} example="priority:critical" />}
      fixed
    >
      {/* Scrolls sideways on narrow screens, also by key. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable by key. */}
      <section className={css.board} ref={board} aria-label="Board" tabIndex={0}>
        {columns.error && columns.data === undefined ? (
          <Failure error={columns.error} onRetry={() => void columns.refetch()} />
        ) : (
          workStatuses.map((status, index) => (
            <Boundary key={status}>
              <BoardColumn
                status={status}
                column={columns.data?.[index]}
                filter={filter as Query}
                onMove={may ? ask : undefined}
                onDrop={may ? (id) => void drop(id, status).catch(fail) : undefined}
              />
            </Boundary>
          ))
        )}
      </section>
      <Suspense>
        {isCreating && <NewItemDialog onClose={() => setCreating(false)} />}
        {asked && <MoveDialog {...asked} onClose={() => setAsked(null)} />}
      </Suspense>
    </Page>
  );
}

function whyNot({ status, transitions }: WorkItem, to: WorkItemStatus): string {
  if (to === 'verified' || to === 'closed_with_exceptions') return 'A work item closes by itself, when all its findings are verified or excepted.';
  if (transitions.length === 0) return `The work item is ${term(status).toLowerCase()}. Its status no longer changes.`;
  return `A work item that is ${term(status).toLowerCase()} cannot become ${term(to).toLowerCase()}.`;
}

const columnsOf = (board: HTMLElement | null): HTMLElement[][] =>
  [...(board?.querySelectorAll<HTMLElement>('[data-column-status]') ?? [])].map((column) => [...column.querySelectorAll<HTMLElement>('[data-card]')]);

/** The card with the focus. */
function focused(board: HTMLElement | null): { id: string; status: ListedWorkItem['status'] } | null {
  const card = document.activeElement?.closest<HTMLElement>('[data-card]');
  if (!card || !board?.contains(card)) return null;
  const status = card.closest<HTMLElement>('[data-column-status]')?.dataset.columnStatus;
  return { id: card.dataset.card ?? '', status: status as WorkItemStatus };
}

/** Moves the focus to the card next to the one that has it. Columns without cards are passed over. */
function step(board: HTMLElement | null, across: number, down: number): void {
  const columns = columnsOf(board).filter((cards) => cards.length > 0);
  const card = document.activeElement?.closest<HTMLElement>('[data-card]') ?? null;
  const column = columns.findIndex((cards) => card !== null && cards.includes(card));
  const cards = column < 0 ? columns[0] : columns[Math.max(0, Math.min(columns.length - 1, column + across))];
  if (cards === undefined) return;
  const row = column < 0 || card === null ? 0 : (columns[column]?.indexOf(card) ?? 0) + down;
  const next = cards[Math.max(0, Math.min(cards.length - 1, row))];
  next?.querySelector<HTMLElement>('a')?.focus();
  next?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}
