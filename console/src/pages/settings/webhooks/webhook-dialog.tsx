import { Switch, TextInput } from '@mantine/core';
import type { EventPattern } from '@rrs/client';
import { useState } from 'react';
import { useChange } from '../../../api/client.ts';
import { Dialog, field } from '../../../parts/dialog.tsx';
import { WordsInput } from '../../../parts/inputs/words-input.tsx';
import type { Webhook } from './status.ts';

const common: readonly EventPattern[] = [
  '*',
  'finding.*',
  'finding.created',
  'finding.status_changed',
  'import.*',
  'sync.*',
  'work_item.*',
  'ticket.*',
  'package.*',
  'member.*',
];

interface WebhookDialogProps {
  webhook: Webhook | null;
  onClose: () => void;
  onCreated?: (webhook: { id: string; secret: string }) => void;
}

export function WebhookDialog({ webhook, onClose, onCreated }: WebhookDialogProps) {
  const [types, setTypes] = useState<string[]>(webhook?.event_types ?? []);
  const [isOn, setOn] = useState(webhook?.enabled ?? true);
  const create = useChange('createWebhook', ['listWebhooks'], (created) => onCreated?.(created));
  const update = useChange('updateWebhook', ['listWebhooks', 'getWebhook'], onClose);
  const submit = (data: FormData) => {
    const body = { url: field(data, 'url') ?? '', event_types: types as EventPattern[], description: field(data, 'description') ?? null, enabled: isOn };
    if (webhook === null) create.mutate({ body });
    else update.mutate({ path: { id: webhook.id }, header: { 'If-Match': `"${webhook.version}"` }, body });
  };
  return (
    <Dialog
      title={webhook === null ? 'Add a webhook' : 'Edit the webhook'}
      action={webhook === null ? 'Add the webhook' : 'Save'}
      onClose={onClose}
      onSubmit={submit}
      isBusy={create.isPending || update.isPending}
      error={create.error ?? update.error}
    >
      <TextInput data-autofocus name="url" type="url" label="URL" placeholder="https://hooks.example.com/rrs" defaultValue={webhook?.url ?? ''} required />
      <WordsInput
        label="Events"
        description="Types such as finding.created, prefixes such as finding.*, or * for all"
        suggestions={common}
        value={types}
        onChange={setTypes}
        withAsterisk
      />
      <TextInput name="description" label="Note" defaultValue={webhook?.description ?? ''} maxLength={500} />
      <Switch label="Deliver events" checked={isOn} onChange={({ target }) => setOn(target.checked)} />
    </Dialog>
  );
}
