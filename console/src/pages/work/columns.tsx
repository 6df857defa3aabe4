import type { ListedWorkItem } from '@rrs/client';
import type { Column } from '../../lists/table.tsx';
import { StatusMark } from '../../parts/status.tsx';
import { Due } from '../../parts/time.tsx';
import { relativeTime, term, utc } from '../../parts/words.ts';
import { Progress } from './progress.tsx';

export const workColumns: readonly Column<ListedWorkItem>[] = [
  { id: 'priority', label: 'Priority', width: '72px', sort: 'priority', cell: ({ priority }) => term(priority) },
  {
    id: 'title',
    label: 'Work item',
    width: 'minmax(220px, 3fr)',
    cell: ({ title, external_ref }) => (
      <span title={title}>
        <strong>{title}</strong> {external_ref !== null && <span className="dim">{external_ref}</span>}
      </span>
    ),
  },
  { id: 'status', label: 'Status', width: '168px', cell: ({ status }) => <StatusMark status={status} /> },
  { id: 'findings', label: 'Done', width: '132px', cell: ({ findings }) => <Progress findings={findings} /> },
  {
    id: 'assignee',
    label: 'Assignee',
    width: 'minmax(120px, 1fr)',
    from: 760,
    cell: ({ assignee }) => (assignee === null ? <span className="dim">Nobody</span> : <span title={assignee}>{assignee}</span>),
  },
  { id: 'due', label: 'Due', width: '120px', sort: 'due_at', cell: ({ due_at, overdue }) => <Due at={due_at} isOverdue={overdue} /> },
  {
    id: 'updated',
    label: 'Changed',
    width: '112px',
    sort: 'updated_at',
    isMinor: true,
    from: 900,
    cell: ({ updated_at }) => (
      <time dateTime={updated_at} title={utc(updated_at)} className="dim">
        {relativeTime(updated_at)}
      </time>
    ),
  },
];
