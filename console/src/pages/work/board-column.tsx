import { ActionIcon } from '@mantine/core';
import { ArrowSwitchIcon } from '@primer/octicons-react';
import type { ListedWorkItem, WorkItemStatus } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../api/client.ts';
import { totalOf } from '../../lists/infinite.ts';
import type { Query } from '../../lists/query.ts';
import { Failure, Loading } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status.tsx';
import { term } from '../../parts/words.ts';
import css from './board.module.css';
import { Due } from './columns.tsx';
import { Progress } from './progress.tsx';

const SHOWN = 50;
const TYPE = 'application/x-rrs-work-item';

interface BoardColumnProps {
  status: WorkItemStatus;
  filter: Query;
  onMove: ((id: string) => void) | undefined;
  onDrop: ((id: string) => void) | undefined;
}

export function BoardColumn({ status, filter, onMove, onDrop }: BoardColumnProps) {
  const isClosed = status === 'verified' || status === 'closed_with_exceptions' || status === 'cancelled';
  const sort = isClosed ? '-updated_at' : 'due_at';
  const items = useApi('listWorkItems', { query: { ...filter, status: [status], sort, limit: SHOWN, total: 'bounded' } }, { keep: true });
  const [isTarget, setTarget] = useState(false);
  const total = items.data?.page.total ?? null;
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
        {items.error && items.data === undefined ? <Failure error={items.error} onRetry={() => void items.refetch()} /> : null}
        {items.data === undefined && !items.error ? <Loading /> : null}
        <ul>
          {items.data?.data.map((item) => (
            <Card key={item.id} item={item} onMove={onMove} />
          ))}
        </ul>
        {total !== null && total.count > SHOWN && (
          <Link className={css.more} to="/work" search={{ ...filter, status, sort }}>
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
        <span className="ellipsis">{item.assignee ?? ''}</span>
      </div>
    </li>
  );
}
