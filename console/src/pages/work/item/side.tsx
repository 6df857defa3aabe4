import type { WorkItem } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useApi } from '../../../api/client.ts';
import { Copy } from '../../../parts/copy.tsx';
import { Facts } from '../../../parts/page.tsx';
import { Due, Time } from '../../../parts/time.tsx';
import { term } from '../../../parts/words.ts';
import css from './item-page.module.css';

/** Who does it, until when, and where it came from. */
export function Side({ item }: { item: WorkItem }) {
  return (
    <>
      {item.description !== null && <p className={css.text}>{item.description}</p>}
      <Facts
        rows={[
          ['Why', item.status_reason],
          [
            'Assignee',
            <span key="assignee" title={item.assignee ?? undefined} className={item.assignee === null ? 'dim' : undefined}>
              {item.assignee_name ?? item.assignee ?? 'Nobody'}
            </span>,
          ],
          ['Priority', term(item.priority)],
          ['Due', item.due_at && <Due at={item.due_at} isOverdue={item.overdue} />],
          ['Reference', item.external_ref],
          ['Follows', item.follows && <Other id={item.follows} />],
          ['Followed by', item.followed_by && <Other id={item.followed_by} />],
          [
            'Created',
            <span key="created">
              <Time at={item.created_at} /> by {item.created_by}
            </span>,
          ],
          ['Closed', item.closed_at && <Time at={item.closed_at} />],
          ['ID', <Copy key="id" text={item.id} />],
        ]}
      />
    </>
  );
}

function Other({ id }: { id: string }) {
  const item = useApi('getWorkItem', { path: { id } });
  return (
    <Link to="/work/$id" params={{ id }}>
      {item.data?.title ?? 'Another work item'}
    </Link>
  );
}
