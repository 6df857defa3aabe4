import { SegmentedControl, Select } from '@mantine/core';
import type { ListedFinding } from '@rrs/client';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useState } from 'react';
import { useApi } from '../../../api/client.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { newWorkItemFrom, WorkItemFields } from '../../../parts/objects/work-item-fields.tsx';
import { announce } from '../../../parts/toast.tsx';
import { count, term } from '../../../parts/words.ts';
import { changeMany, newWorkItem } from './apply.ts';
import { sizeOf, type Target } from './verbs.ts';

/** Puts findings into a new work item, or adds them to one that is not closed. */
export function WorkItemDialog({ target, onClose }: { target: Target; onClose: () => void }) {
  const [isNew, setNew] = useState(true);
  const [chosen, setChosen] = useState<string | null>(null);
  const navigate = useNavigate();
  const findings = 'findings' in target ? target.findings : [];
  const submit = useMutation({
    mutationFn: async (data: FormData) => {
      if (!isNew && chosen !== null) {
        await changeMany(target, { work_item_id: chosen }, false);
        return onClose();
      }
      const { id, title } = await newWorkItem(target, newWorkItemFrom(data));
      onClose();
      announce(`Created the work item “${title}”.`, { action: { label: 'Open', run: () => void navigate({ to: '/work/$id', params: { id } }) } });
    },
  });
  const many = 'findings' in target ? count(findings.length, 'finding') : `${sizeOf(target)} findings`;
  return (
    <Dialog
      title={`Work item for ${many}`}
      action={isNew ? 'Create the work item' : 'Add to the work item'}
      onClose={onClose}
      onSubmit={(data) => submit.mutate(data)}
      isBusy={submit.isPending}
      error={submit.error}
      isDisabled={!isNew && chosen === null}
    >
      <SegmentedControl
        aria-label="New or existing work item"
        data={[
          { value: 'new', label: 'New' },
          { value: 'existing', label: 'Existing' },
        ]}
        value={isNew ? 'new' : 'existing'}
        onChange={(value) => setNew(value === 'new')}
      />
      {isNew ? <WorkItemFields given={proposal(findings)} /> : <Existing value={chosen} onChange={setChosen} />}
    </Dialog>
  );
}

function Existing({ value, onChange }: { value: string | null; onChange: (id: string | null) => void }) {
  const [text, setText] = useState('');
  const q = useDeferredValue(text.trim());
  const status = ['open', 'in_progress', 'blocked', 'awaiting_verification'] as const;
  const items = useApi('listWorkItems', { query: { status: [...status], limit: 20, sort: '-updated_at', ...(q.length < 2 ? {} : { q }) } }, { keep: true });
  return (
    <Select
      data-autofocus
      label="Work item"
      placeholder="Search by title"
      searchable
      required
      nothingFoundMessage="No open work item matches"
      filter={({ options }) => options}
      data={items.data?.data.map(({ id, title, status: now }) => ({ value: id, label: `${title} (${term(now).toLowerCase()})` })) ?? []}
      value={value}
      onChange={onChange}
      onSearchChange={setText}
    />
  );
}

/** A title from what the findings have in common, and the earliest deadline. */
function proposal(findings: readonly ListedFinding[]): { title: string; due_at: string | null } {
  const [first] = findings;
  const due_at = findings.flatMap(({ due_at: due }) => due ?? []).sort()[0] ?? null;
  if (first === undefined) return { title: '', due_at };
  const same = <T,>(of: (finding: ListedFinding) => T): boolean => findings.every((finding) => of(finding) === of(first));
  const id = first.vulnerability_ids[0];
  const { component, fixed_version } = first.location;
  if (component !== null && same(({ location }) => location.component)) {
    return { title: `Update ${component}${fixed_version === null ? '' : ` to ${fixed_version}`}`, due_at };
  }
  if (id !== undefined && same(({ vulnerability_ids }) => vulnerability_ids[0])) return { title: `Fix ${id}`, due_at };
  return {
    title:
      findings.length === 1
        ? first.title
        : `Fix ${count(findings.length, 'finding')} on ${same(({ asset }) => asset.id) ? first.asset.name : 'several assets'}`,
    due_at,
  };
}
