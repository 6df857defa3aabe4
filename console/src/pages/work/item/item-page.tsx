import { Button } from '@mantine/core';
import type { WorkItem } from '@rrs/client';
import { useParams } from '@tanstack/react-router';
import { type ComponentType, lazy, Suspense, useState } from 'react';
import { useApi } from '../../../api/client.ts';
import { useCommands } from '../../../keys/keys.ts';
import { useQueryString } from '../../../lists/query.ts';
import { Tabs } from '../../../lists/tabs.tsx';
import { Page } from '../../../parts/page.tsx';
import { Boundary, Loading, Show } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { FindingsTab } from './findings-tab.tsx';
import css from './item-page.module.css';
import { Side } from './side.tsx';
import { Verification } from './verification.tsx';

type Tab = ComponentType<{ item: WorkItem }>;

const EditDialog = lazy(async () => ({ default: (await import('./edit-dialog.tsx')).EditDialog }));
const MoveDialog = lazy(async () => ({ default: (await import('../move-dialog.tsx')).MoveDialog }));

/** The tabs by their name in the address. The first one has none. */
const tabs: readonly { name: string; label: string; Content: Tab; counted?: (item: WorkItem) => number }[] = [
  { name: '', label: 'Findings', Content: FindingsTab, counted: ({ findings }) => findings.total },
  { name: 'proof', label: 'Proof', Content: lazy(async () => ({ default: (await import('./proof-tab.tsx')).ProofTab })) },
  {
    name: 'tickets',
    label: 'Tickets',
    Content: lazy(async () => ({ default: (await import('../tickets/tickets-tab.tsx')).TicketsTab })),
    counted: ({ tickets }) => tickets.length,
  },
  {
    name: 'approvals',
    label: 'Approvals',
    Content: lazy(async () => ({ default: (await import('./approvals/approvals-tab.tsx')).ApprovalsTab })),
    counted: ({ approvals }) => approvals.length,
  },
  { name: 'packages', label: 'Packages', Content: lazy(async () => ({ default: (await import('./packages-tab.tsx')).PackagesTab })) },
  { name: 'activity', label: 'Activity', Content: lazy(async () => ({ default: (await import('./activity-tab.tsx')).ActivityTab })) },
];

export function ItemPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const [{ tab = '' }] = useQueryString();
  const item = useApi('getWorkItem', { path: { id } });
  const [open, setOpen] = useState<'edit' | 'move' | null>(null);
  const mayEdit = item.data?.may.update === null;
  useCommands(mayEdit ? { status: () => setOpen('move') } : {});
  const chosen = tabs.find(({ name }) => name === tab) ?? tabs[0];
  const views = tabs.map(({ name, label, counted }) => ({
    label: counted && item.data ? `${label} ${counted(item.data)}` : label,
    query: name === '' ? {} : { tab: name },
  }));
  return (
    <Page
      title={item.data?.title ?? 'Work item'}
      info={item.data && <StatusMark status={item.data.status} />}
      actions={
        mayEdit && (
          <>
            <Button variant="default" onClick={() => setOpen('edit')}>
              Edit
            </Button>
            <Button variant="default" onClick={() => setOpen('move')} rightSection={<kbd>s</kbd>}>
              Status
            </Button>
          </>
        )
      }
      bar={<Tabs label="Parts of the work item" path={`/work/${id}`} views={views} query={tab === '' ? {} : { tab }} />}
    >
      <Show query={item} rows={8}>
        {(data) => (
          <div className={css.columns}>
            <div className={css.main}>
              <Boundary key={tab}>
                <Suspense fallback={<Loading />}>{chosen && <chosen.Content item={data} />}</Suspense>
              </Boundary>
            </div>
            <div className={css.side}>
              <Boundary>
                <Side item={data} />
              </Boundary>
              <Boundary>
                <Verification item={data} />
              </Boundary>
            </div>
          </div>
        )}
      </Show>
      <Suspense>
        {open === 'edit' && item.data && <EditDialog item={item.data} onClose={() => setOpen(null)} />}
        {open === 'move' && item.data && <MoveDialog item={item.data} onClose={() => setOpen(null)} />}
      </Suspense>
    </Page>
  );
}
