import { Textarea } from '@mantine/core';
import { type Approval, RrsError, type WorkItem } from '@rrs/client';
import { useMutation } from '@tanstack/react-query';
import { call, refresh, useApi } from '../../../../api/client.ts';
import { expectOwnEvents } from '../../../../api/live.ts';
import { Dialog, field } from '../../../../parts/dialog.tsx';
import { Show } from '../../../../parts/states.tsx';
import { announce } from '../../../../parts/toast.tsx';
import { State } from './state.tsx';

/** Approves or rejects exactly the state that the dialog shows. If it changed meanwhile, the new one is shown and has to be decided on again. */
export function DecideDialog({ item, decision, onClose }: { item: WorkItem; decision: Approval['decision']; onClose: () => void }) {
  const state = useApi('getWorkItemState', { path: { id: item.id } }, { staleTime: Number.POSITIVE_INFINITY });
  const decide = useMutation({
    mutationFn: async (comment: string | undefined) => {
      if (state.data === undefined) return;
      expectOwnEvents();
      try {
        const body = { decision, state_digest: state.data.state_digest, ...(comment === undefined ? {} : { comment }) };
        await call('decideOnWorkItem', { path: { id: item.id }, body });
        announce(decision === 'approved' ? 'Approved.' : 'Rejected.');
        onClose();
        await refresh('getWorkItem', 'listWorkItemTimeline', 'createEvidencePackage');
      } catch (error) {
        if (error instanceof RrsError && error.status === 409) await refresh('getWorkItemState', 'getWorkItem');
        throw error;
      }
    },
  });
  const isApproval = decision === 'approved';
  return (
    <Dialog
      title={isApproval ? 'Approve this state' : 'Reject this state'}
      action={isApproval ? 'Approve' : 'Reject'}
      onClose={onClose}
      onSubmit={(data) => decide.mutate(field(data, 'comment'))}
      isBusy={decide.isPending}
      error={decide.error}
      isDangerous={!isApproval}
      isDisabled={state.data === undefined}
      size="xl"
    >
      <Show query={state} rows={5}>
        {(data) => <State itemId={item.id} label="to decide on" digest={data.state_digest} lines={data.lines} />}
      </Show>
      <Textarea data-autofocus name="comment" label={isApproval ? 'Comment' : 'What is missing'} required={!isApproval} />
    </Dialog>
  );
}
