import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { Level, ListedWorkItem } from '@rrs/client';
import { useDeferredValue, useId, useState } from 'react';
import { useApi } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { field } from '../dialog.tsx';
import { term } from '../words.ts';

const levels: readonly Level[] = ['low', 'medium', 'high', 'critical'];

interface Given extends Partial<Pick<ListedWorkItem, 'title' | 'assignee' | 'priority' | 'due_at' | 'external_ref'>> {
  description?: string | null;
}

/** What is asked for when a work item is created or edited. */
export function WorkItemFields({ given = {} }: { given?: Given }) {
  const id = useId();
  const mayReadMembers = useMay('members:read');
  const [text, setText] = useState(given.assignee ?? '');
  const q = useDeferredValue(text.trim());
  // The service searches, so that the number of members does not matter.
  const members = useApi('listMembers', { query: { limit: 20, ...(q === '' ? {} : { q }) } }, { enabled: mayReadMembers, keep: true });
  return (
    <>
      <TextInput data-autofocus name="title" label="Title" required maxLength={500} defaultValue={given.title} />
      <Textarea name="description" label="Description" defaultValue={given.description ?? ''} />
      <TextInput
        name="assignee"
        label="Assignee"
        description="E-mail address of a member, or any name"
        list={`${id}-members`}
        value={text}
        onChange={({ target }) => setText(target.value)}
        maxLength={200}
      />
      <datalist id={`${id}-members`}>
        {members.data?.data.map(({ email, name }) => (
          <option key={email} value={email}>
            {name}
          </option>
        ))}
      </datalist>
      <NativeSelect name="priority" label="Priority" data={levels.map((value) => ({ value, label: term(value) }))} defaultValue={given.priority ?? 'medium'} />
      <TextInput name="due" label="Due" type="date" defaultValue={given.due_at?.slice(0, 10) ?? ''} />
      <TextInput name="ref" label="External reference" description="Such as a change number" defaultValue={given.external_ref ?? ''} />
    </>
  );
}

/** The fields of the form. Those that were left empty are null. Work is due at the end of the day. */
export function workItemFrom(data: FormData) {
  const due = field(data, 'due');
  return {
    title: field(data, 'title') ?? '',
    description: field(data, 'description') ?? null,
    assignee: field(data, 'assignee') ?? null,
    priority: (field(data, 'priority') ?? 'medium') as Level,
    due_at: due === undefined ? null : `${due}T23:59:59Z`,
    external_ref: field(data, 'ref') ?? null,
  };
}

type Present<T> = { [Name in keyof T]?: NonNullable<T[Name]> };

/** The same for a new work item: what is null is left out. */
export function newWorkItemFrom(data: FormData) {
  const { title, ...rest } = workItemFrom(data);
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null)) as Present<typeof rest>;
  return { title, ...given };
}
