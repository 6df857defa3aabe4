import { Textarea } from '@mantine/core';
import type { SettableWorkItemStatus, WorkItem } from '@rrs/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog, field } from '../../parts/dialog.tsx';
import { Choices } from '../../parts/objects/choices.tsx';
import { StatusMark } from '../../parts/status.tsx';
import { term } from '../../parts/words.ts';
import { move } from './move.ts';

const effects: Readonly<Record<SettableWorkItemStatus, string>> = {
  open: 'Findings in progress become open.',
  in_progress: 'Open findings are started.',
  blocked: 'The work waits for something.',
  awaiting_verification: 'Findings that are open or in progress are claimed as remediated.',
  cancelled: 'The work is given up. Findings stay as they are.',
};

interface MoveDialogProps {
  item: WorkItem;
  /** Chosen already, for example by dropping a card on a column. */
  to?: SettableWorkItemStatus;
  onClose: () => void;
}

/** The statuses that are possible, and why others are not. */
export function MoveDialog({ item, to, onClose }: MoveDialogProps) {
  const possible = item.transitions.filter(({ refused }) => refused === null);
  const [status, setStatus] = useState(to ?? possible[0]?.to);
  const chosen = item.transitions.find((transition) => transition.to === status);
  const isReasonNeeded = chosen?.needs.includes('reason') ?? false;
  const submit = useMutation({
    mutationFn: async (data: FormData) => {
      if (status === undefined) return;
      await move(item, status, field(data, 'reason'));
      onClose();
    },
  });
  return (
    <Dialog
      title={`Change the status: ${item.title}`}
      action={status === undefined ? 'Change the status' : `Set to ${term(status).toLowerCase()}`}
      onClose={onClose}
      onSubmit={(data) => submit.mutate(data)}
      isBusy={submit.isPending}
      error={submit.error}
      isDisabled={chosen === undefined || chosen.refused !== null}
    >
      {item.transitions.length === 0 ? (
        <p>This work item is closed. Its status no longer changes.</p>
      ) : (
        <Choices
          label={
            <>
              Now <StatusMark status={item.status} />
            </>
          }
          choices={item.transitions.map((transition) => ({
            value: transition.to,
            label: term(transition.to),
            hint: transition.refused ?? effects[transition.to],
            isDisabled: transition.refused !== null,
          }))}
          value={status}
          onChange={setStatus}
        />
      )}
      {isReasonNeeded && <Textarea name="reason" label="Reason" required data-autofocus={to !== undefined || undefined} />}
    </Dialog>
  );
}
