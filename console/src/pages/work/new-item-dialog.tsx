import { useNavigate } from '@tanstack/react-router';
import { useChange } from '../../api/client.ts';
import { expectOwnEvents } from '../../api/live.ts';
import { restartLists } from '../../lists/infinite.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { newWorkItemFrom, WorkItemFields } from '../../parts/objects/work-item-fields.tsx';
import { announce } from '../../parts/toast.tsx';

/** A work item without findings. They are added from the list of findings. */
export function NewItemDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const create = useChange('createWorkItem', ['listWorkItems'], ({ id, title }) => {
    onClose();
    announce(`Created the work item “${title}”.`);
    void restartLists('listWorkItems');
    void navigate({ to: '/work/$id', params: { id } });
  });
  const submit = (data: FormData) => {
    expectOwnEvents();
    create.mutate({ body: newWorkItemFrom(data) });
  };
  return (
    <Dialog title="New work item" action="Create the work item" onClose={onClose} onSubmit={submit} isBusy={create.isPending} error={create.error}>
      <WorkItemFields />
    </Dialog>
  );
}
