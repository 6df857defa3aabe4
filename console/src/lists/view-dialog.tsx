import { Checkbox, TextInput } from '@mantine/core';
import type { View } from '@rrs/client';
import { useChange } from '../api/client.ts';
import { useMay } from '../api/session.ts';
import { Dialog, field } from '../parts/dialog.tsx';
import { announce } from '../parts/toast.tsx';
import { change, type Query, writeQuery } from './query.ts';

/** Saves the filters of a list under a name, or gives a view another name. */
export function ViewDialog({ list, query, view, onClose }: { list: View['list']; query: Query; view?: View; onClose: () => void }) {
  const mayShare = useMay('views:share');
  const done = ({ name }: View) => {
    announce(`Saved the view “${name}”.`);
    onClose();
  };
  const create = useChange('createView', ['listViews'], done);
  const rename = useChange('updateView', ['listViews'], done);
  const submit = (data: FormData) => {
    const name = field(data, 'name') ?? '';
    if (view) return rename.mutate({ path: { id: view.id }, header: { 'If-Match': `"${view.version}"` }, body: { name } });
    const filter = writeQuery(change(query, { open: null, group: null, sort: null })).slice(1);
    create.mutate({ body: { list, name, query: filter, sort: query.sort ?? null, scope: data.has('shared') ? 'organization' : 'mine' } });
  };
  return (
    <Dialog
      title={view ? 'Rename the view' : 'Save this view'}
      action={view ? 'Rename' : 'Save'}
      onClose={onClose}
      onSubmit={submit}
      isBusy={create.isPending || rename.isPending}
      error={create.error ?? rename.error}
    >
      <TextInput data-autofocus name="name" label="Name" required maxLength={100} defaultValue={view?.name ?? ''} />
      {!view && mayShare && <Checkbox name="shared" label="For everybody in the organization" />}
    </Dialog>
  );
}
