import type { ListedWorkItem } from '@rrs/client';
import type { Column } from '../../lists/table.tsx';
import { StatusMark } from '../../parts/status.tsx';
import { Due, Time } from '../../parts/time.tsx';
import { term, utc } from '../../parts/words.ts';
import { Progress } from './progress.tsx';

export const workColumns: readonly Column<ListedWorkItem>[] = [
  { id: 'priority', label: 'Priority', width: '72px', sort: 'priority', cell: ({ priority }) => term(priority) },
  {
    id: 'title',
    label: 'Work item',
    width: 'minmax(220px, 5fr)',
    cell: ({ title, external_ref }) => (
      <>
        <strong>{title}</strong> {external_ref !== null && <span className="dim">{external_ref}</span>}
      </>
    ),
    hint: ({ title }) => title,
  },
  { id: 'status', label: 'Status', width: '176px', cell: ({ status }) => <StatusMark status={status} /> },
  { id: 'findings', label: 'Done', width: '108px', cell: ({ findings }) => <Progress findings={findings} /> },
  {
    id: 'assignee',
    label: 'Assignee',
    width: 'minmax(120px, 1fr)',
    from: 760,
    cell: ({ assignee, assignee_name }) => assignee_name ?? assignee ?? <span className="dim">Nobody</span>,
    hint: ({ assignee }) => assignee,
  },
  {
    id: 'due',
    label: 'Due',
    width: '112px',
    sort: 'due_at',
    cell: ({ due_at, overdue }) => <Due at={due_at} isOverdue={overdue} isBare />,
    hint: ({ due_at }) => due_at && utc(due_at),
  },
  {
    id: 'updated',
    label: 'Changed',
    width: '112px',
    sort: 'updated_at',
    isMinor: true,
    from: 1120,
    className: 'dim',
    cell: ({ updated_at }) => <Time at={updated_at} isBare />,
    hint: ({ updated_at }) => utc(updated_at),
  },
];
