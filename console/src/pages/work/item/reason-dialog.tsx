import { Textarea } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog, field } from '../../../parts/dialog.tsx';

interface ReasonDialogProps {
  title: string;
  action: string;
  onClose: () => void;
  onSubmit: (reason: string) => void;
  isBusy: boolean;
  error: unknown;
  children: ReactNode;
}

/** Asks why something is taken away. */
export function ReasonDialog({ title, action, onClose, onSubmit, isBusy, error, children }: ReasonDialogProps) {
  const submit = (data: FormData) => onSubmit(field(data, 'reason') ?? '');
  return (
    <Dialog title={title} action={action} onClose={onClose} onSubmit={submit} isBusy={isBusy} error={error} isDangerous>
      <p>{children}</p>
      <Textarea data-autofocus name="reason" label="Reason" required />
    </Dialog>
  );
}
