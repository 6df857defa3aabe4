import { RrsError, type WorkItem } from '@rrs/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { call, refresh } from '../../../api/client.ts';
import { expectOwnEvents } from '../../../api/live.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Conflict, type Difference } from '../../../parts/objects/conflict.tsx';
import { WorkItemFields, workItemFrom } from '../../../parts/objects/work-item-fields.tsx';
import { announce } from '../../../parts/toast.tsx';
import { day, term } from '../../../parts/words.ts';
import { show } from '../move.ts';

type Fields = ReturnType<typeof workItemFrom>;

interface Other {
  current: WorkItem;
  by: string | null;
  differences: Difference[];
}

/** Changes a work item. If somebody else was faster, both versions are shown before anything is overwritten. */
export function EditDialog({ item, onClose }: { item: WorkItem; onClose: () => void }) {
  const [base, setBase] = useState(item);
  const [other, setOther] = useState<Other | null>(null);
  const save = useMutation({
    mutationFn: async (fields: Fields) => {
      expectOwnEvents();
      try {
        const changed = await call('updateWorkItem', { path: { id: item.id }, header: { 'If-Match': `"${base.version}"` }, body: fields });
        show(changed);
        announce('The work item is changed.');
        onClose();
        await refresh('listWorkItems', 'listWorkItemTimeline', 'getWorkItemState');
      } catch (error) {
        if (!(error instanceof RrsError && error.status === 412)) throw error;
        const found = await compare(item.id, fields);
        setBase(found.current);
        setOther(found);
      }
    },
  });
  return (
    <Dialog
      title="Edit the work item"
      action={other === null ? 'Save' : 'Save my version'}
      onClose={onClose}
      onSubmit={(data) => save.mutate(workItemFrom(data))}
      isBusy={save.isPending}
      error={save.error}
    >
      <WorkItemFields given={item} />
      {other && <Conflict by={other.by} at={other.current.updated_at} differences={other.differences} />}
    </Dialog>
  );
}

const labels: Readonly<Record<keyof Fields, string>> = {
  title: 'Title',
  description: 'Description',
  assignee: 'Assignee',
  priority: 'Priority',
  due_at: 'Due',
  external_ref: 'External reference',
};

/** What somebody else stored meanwhile, next to what was about to be stored. */
async function compare(id: string, fields: Fields): Promise<Other> {
  const [current, timeline] = await Promise.all([
    call('getWorkItem', { path: { id } }),
    call('listWorkItemTimeline', { path: { id }, query: { limit: 1, object_type: 'work_item' } }),
  ]);
  const last = timeline.data[0];
  const names = Object.keys(labels) as (keyof Fields)[];
  const differences = names.map((name) => ({ field: labels[name], theirs: wordOf(name, current[name]), yours: wordOf(name, fields[name]) }));
  return { current, by: last?.person?.name ?? last?.actor.name ?? null, differences: differences.filter(({ theirs, yours }) => theirs !== yours) };
}

function wordOf(name: keyof Fields, value: string | null): string {
  if (value === null) return '';
  if (name === 'due_at') return day(value);
  return name === 'priority' ? term(value) : value;
}
