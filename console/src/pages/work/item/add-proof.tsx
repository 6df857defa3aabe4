import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { ArtifactType, WorkItem } from '@rrs/client';
import { useEffect, useState } from 'react';
import { useChange } from '../../../api/client.ts';
import { Copy } from '../../../parts/copy.tsx';
import { Dialog, field } from '../../../parts/dialog.tsx';
import { announce } from '../../../parts/toast.tsx';
import { bytes, term } from '../../../parts/words.ts';

const types: readonly ArtifactType[] = [
  'pull_request',
  'commit',
  'change_ticket',
  'scan_report',
  'approval',
  'screenshot',
  'configuration',
  'test_result',
  'other',
];

/** Adds a file, or a link if there is none. The hash of a file is shown before it is sent. */
export function AddProof({ item, file, onClose }: { item: WorkItem; file: File | null; onClose: () => void }) {
  const hash = useHash(file);
  const add = useChange('addArtifact', ['listArtifacts', 'getWorkItemState', 'listWorkItemTimeline', 'createEvidencePackage'], ({ title }) => {
    announce(`Added “${title}”.`);
    onClose();
  });
  const submit = (data: FormData) => {
    const fields = {
      title: field(data, 'title') ?? '',
      type: (field(data, 'type') ?? 'other') as ArtifactType,
      ...(field(data, 'description') === undefined ? {} : { description: field(data, 'description') ?? null }),
    };
    add.mutate({ path: { work_item_id: item.id }, body: file === null ? { ...fields, url: field(data, 'url') ?? '' } : formOf(fields, file) });
  };
  return (
    <Dialog
      title={file === null ? 'Add a link' : `Add ${file.name}`}
      action={file === null ? 'Add the link' : 'Add the file'}
      onClose={onClose}
      onSubmit={submit}
      isBusy={add.isPending}
      error={add.error}
    >
      {file === null ? (
        <TextInput data-autofocus name="url" label="Address" type="url" required placeholder="https://" />
      ) : (
        <p className="dim">
          {bytes(file.size)}
          {hash !== null && (
            <>
              {' · SHA-256 '}
              <Copy text={hash} />
            </>
          )}
        </p>
      )}
      <TextInput data-autofocus={file !== null || undefined} name="title" label="Title" required maxLength={500} defaultValue={file?.name ?? ''} />
      <NativeSelect name="type" label="What it shows" data={types.map((value) => ({ value, label: term(value) }))} defaultValue={guess(file)} />
      <Textarea name="description" label="Description" />
      {file === null && <p className="dim">If a connected system can read the link, the service stores its content too.</p>}
    </Dialog>
  );
}

function guess(file: File | null): ArtifactType {
  if (file === null) return 'pull_request';
  return file.type.startsWith('image/') ? 'screenshot' : 'test_result';
}

function formOf(fields: Readonly<Record<string, string | null>>, file: File): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== null) form.append(name, value);
  form.append('file', file);
  return form;
}

/** Browsers compute hashes only on https and on this machine. */
function useHash(file: File | null): string | null {
  const [hash, setHash] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    const compute = async () => {
      if (file === null || crypto.subtle === undefined) return;
      const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()));
      if (isCurrent) setHash([...digest].map((byte) => byte.toString(16).padStart(2, '0')).join(''));
    };
    void compute().catch(() => {});
    return () => {
      isCurrent = false;
    };
  }, [file]);
  return hash;
}
