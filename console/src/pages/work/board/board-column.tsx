import { ActionIcon } from '@mantine/core';
import { ArrowSwitchIcon } from '@primer/octicons-react';
import type { ListedWorkItem, WorkItemStatus } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { totalOf } from '../../../lists/infinite.ts';
import type { Query } from '../../../lists/query.ts';
import { Loading } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { Due } from '../../../parts/time.tsx';
import { term } from '../../../parts/words.ts';
import { Progress } from '../progress.tsx';
import css from './board.module.css';
import { SHOWN, sortOf } from './board.ts';
import type { Column } from './column.ts';

const TYPE = 'application/x-rrs-work-item';

interface BoardColumnProps {
  status: WorkItemStatus;
  /** Undefined while the board is read for the first time. */
  column: Column | undefined;
  filter: Query;
  onMove: ((id: string) => void) | undefined;
  onDrop: ((id: string) => void) | undefined;
}

export function BoardColumn({ status, column, filter, onMove, onDrop }: BoardColumnProps) {
  const [isTarget, setTarget] = useState(false);
  const total = column?.total ?? null;
  return (
    <section
      className={css.column}
      aria-label={term(status)}
      data-column-status={status}
      data-target={isTarget || undefined}
      onDragOver={(event) => {
        if (!onDrop || !event.dataTransfer.types.includes(TYPE)) return;
        event.preventDefault();
        setTarget(true);
      }}
      onDragLeave={() => setTarget(false)}
      onDrop={(event) => {
        setTarget(false);
        const id = event.dataTransfer.getData(TYPE);
        if (id === '') return;
        event.preventDefault();
        onDrop?.(id);
      }}
    >
      <h2 className={css.head}>
        <StatusMark status={status} />
        <span className="dim">{totalOf(total)}</span>
      </h2>
      <div className={css.cards}>
        {column === undefined && <Loading />}
        <ul>
          {column?.cards.map((item) => (
            <Card key={item.id} item={item} onMove={onMove} />
          ))}
        </ul>
        {total !== null && total.count > SHOWN && (
          <Link className={css.more} to="/work" search={{ ...filter, status, sort: sortOf(status) }}>
            All {totalOf(total)}
          </Link>
        )}
      </div>
    </section>
  );
}

function Card({ item, onMove }: { item: ListedWorkItem; onMove: ((id: string) => void) | undefined }) {
  return (
    <li
      className={css.card}
      data-card={item.id}
      draggable={onMove !== undefined}
      onDragStart={(event) => {
        event.dataTransfer.setData(TYPE, item.id);
        event.dataTransfer.effectAllowed = 'move';
      }}
    >
      <div className={css.title}>
        <Link to="/work/$id" params={{ id: item.id }} draggable={false}>
          {item.title}
        </Link>
        {onMove && (
          <ActionIcon size={24} aria-label={`Move ${item.title}`} onClick={() => onMove(item.id)}>
            <ArrowSwitchIcon size={14} />
          </ActionIcon>
        )}
      </div>
      <Progress findings={item.findings} />
      <div className={css.facts}>
        <span>{term(item.priority)}</span>
        <Due at={item.due_at} isOverdue={item.overdue} />
        <span className="ellipsis" title={item.assignee ?? undefined}>
          {item.assignee_name ?? item.assignee ?? ''}
        </span>
      </div>
    </li>
  );
}
