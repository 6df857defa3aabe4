import { Button } from '@mantine/core';
import type { ListedWorkItem, WorkItem } from '@rrs/client';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { forgetChanges, useChanges } from '../../api/live.ts';
import { useMay, useMe } from '../../api/session.ts';
import { ChangesBar } from '../../lists/changes-bar.tsx';
import { FilterBar } from '../../lists/filter-bar.tsx';
import { restartLists, totalOf, useList } from '../../lists/infinite.ts';
import { useQueryString } from '../../lists/query.ts';
import { SavedViews } from '../../lists/saved-views.tsx';
import { Table } from '../../lists/table.tsx';
import { useRows } from '../../lists/use-rows.ts';
import { Page } from '../../parts/page.tsx';
import { Empty, messageOf } from '../../parts/states.tsx';
import { announce } from '../../parts/toast.tsx';
import { workColumns } from './columns.tsx';
import { workFilters, workViews } from './filters.ts';
import { readItem } from './move.ts';
import { ViewSwitch } from './view-switch.tsx';

const NewItemDialog = lazy(async () => ({ default: (await import('./new-item-dialog.tsx')).NewItemDialog }));
const MoveDialog = lazy(async () => ({ default: (await import('./move-dialog.tsx')).MoveDialog }));

export function WorkPage() {
  const [query, setQuery] = useQueryString();
  const list = useList('listWorkItems', query);
  const me = useMe();
  const may = useMay('work_items:manage');
  const navigate = useNavigate();
  const [moving, setMoving] = useState<WorkItem | null>(null);
  const [isCreating, setCreating] = useState(false);
  const changes = useChanges('listWorkItems');
  const showChanges = () => {
    forgetChanges('listWorkItems');
    void restartLists('listWorkItems');
  };
  const open = ({ id }: ListedWorkItem) => void navigate({ to: '/work/$id', params: { id } });
  const changeStatus = () => {
    const row = list.row(rows.active);
    if (row === undefined) return announce('Choose a work item first, with j and k.');
    readItem(row.id).then(setMoving, (error: unknown) => announce(messageOf(error), { isBad: true }));
  };
  const rows = useRows(list, query, open, { 'show-changes': showChanges, ...(may ? { status: changeStatus, create: () => setCreating(true) } : {}) });
  return (
    <Page
      title="Work"
      info={<span aria-live="polite">{totalOf(list.total)}</span>}
      actions={
        <>
          <Link to="/work/drift">Ticket drift</Link>
          <ViewSwitch query={query} />
          {may && <Button onClick={() => setCreating(true)}>New work item</Button>}
        </>
      }
      bar={
        <>
          <SavedViews list="work_items" path="/work" views={workViews(me.email)} query={query} />
          <FilterBar filters={workFilters} query={query} onChange={setQuery} example="priority:critical" />
        </>
      }
      fixed
    >
      <ChangesBar count={changes} what="Work items" onShow={showChanges} />
      <Table
        label="Work items"
        columns={workColumns}
        {...rows}
        sort={query.sort}
        onSort={(sort) => setQuery({ sort })}
        empty={<Nothing isFiltered={Object.keys(query).some((name) => name !== 'sort')} />}
      />
      <Suspense>
        {isCreating && <NewItemDialog onClose={() => setCreating(false)} />}
        {moving && <MoveDialog item={moving} onClose={() => setMoving(null)} />}
      </Suspense>
    </Page>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Empty
      title="No work items match"
      actions={
        <Link to="/work" search={{}}>
          Show all work items
        </Link>
      }
    >
      Remove one of the filters above, or look at all work items.
    </Empty>
  ) : (
    <Empty title="No work items yet" actions={<Link to="/findings">Go to findings</Link>}>
      Select findings and press w: the work item follows them until they are verified.
    </Empty>
  );
}
