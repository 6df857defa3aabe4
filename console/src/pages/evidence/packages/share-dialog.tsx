import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useChange } from '../../../api/client.ts';
import { copy } from '../../../parts/copy.tsx';
import { Dialog, field } from '../../../parts/dialog.tsx';
import formCss from '../../../parts/form.module.css';
import { Modal } from '../../../parts/layers/modal.tsx';
import { utc } from '../../../parts/words.ts';

const DAY_HOURS = 24;
const lifetimes = [
  { value: String(DAY_HOURS), label: '1 day' },
  { value: String(7 * DAY_HOURS), label: '7 days' },
  { value: String(30 * DAY_HOURS), label: '30 days' },
  { value: String(90 * DAY_HOURS), label: '90 days' },
];
const limits = [
  { value: 'none', label: 'Any number of times' },
  { value: 'once', label: 'Once' },
  { value: 'some', label: 'At most…' },
];

/** Makes a link for somebody without an account. The link is shown only here. */
export function ShareDialog({ packageId, onClose }: { packageId: string; onClose: () => void }) {
  const [limit, setLimit] = useState('none');
  const share = useChange('createShareLink', ['listShareLinks']);
  const submit = (data: FormData) =>
    share.mutate({
      path: { package_id: packageId },
      body: {
        recipient: field(data, 'recipient') ?? '',
        expires_in_hours: Number(field(data, 'hours')),
        max_downloads: limit === 'none' ? null : limit === 'once' ? 1 : Number(field(data, 'downloads') ?? 1),
      },
    });
  if (share.data) return <Created url={share.data.url} expiresAt={share.data.expires_at} onClose={onClose} />;
  return (
    <Dialog title="Share the package" action="Create the link" onClose={onClose} onSubmit={submit} isBusy={share.isPending} error={share.error}>
      <TextInput
        data-autofocus
        name="recipient"
        label="For"
        description="Name the person and the company. Receipts of downloads show it."
        required
        maxLength={300}
      />
      <NativeSelect name="hours" label="Works for" data={lifetimes} defaultValue={String(7 * DAY_HOURS)} />
      <NativeSelect label="Can be downloaded" data={limits} value={limit} onChange={({ target }) => setLimit(target.value)} />
      {limit === 'some' && <TextInput type="number" name="downloads" label="Number of downloads" min={1} max={1000} defaultValue={3} required />}
    </Dialog>
  );
}

function Created({ url, expiresAt, onClose }: { url: string; expiresAt: string; onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="The link is ready">
      <div className={formCss.form}>
        <TextInput
          label="Link"
          description={`Copy it now: it cannot be shown again. It works until ${utc(expiresAt)}.`}
          value={url}
          readOnly
          data-autofocus
          onFocus={({ target }) => target.select()}
        />
        <div className={formCss.buttons}>
          <Button variant="default" onClick={() => void copy(url)}>
            Copy the link
          </Button>
          <Button onClick={onClose}>Done</Button>
        </div>
      </div>
    </Modal>
  );
}
