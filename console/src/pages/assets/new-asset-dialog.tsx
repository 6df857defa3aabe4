import { NativeSelect, TextInput } from '@mantine/core';
import { type AssetType, type Exposure, type Level, RrsError } from '@rrs/client';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../../api/client.ts';
import { restartLists } from '../../lists/infinite.ts';
import { Dialog, field } from '../../parts/dialog.tsx';
import { WordsInput } from '../../parts/inputs/words-input.tsx';
import { announce } from '../../parts/toast.tsx';
import { term } from '../../parts/words.ts';
import { exposures, levels } from './edit-dialog.tsx';

export const assetTypes: readonly AssetType[] = ['host', 'container_image', 'repository', 'package', 'web_application', 'cloud_resource', 'other'];

/** An asset before a report names it, to set its criticality and owner. */
export function NewAssetDialog({ onClose }: { onClose: () => void }) {
  const [tags, setTags] = useState<string[]>([]);
  const navigate = useNavigate();
  const create = useChange('createAsset', ['listAssets'], ({ id, name }) => {
    onClose();
    announce(`Created the asset “${name}”.`);
    void restartLists('listAssets');
    void navigate({ to: '/assets/$id', params: { id } });
  });
  const submit = (data: FormData) => {
    const owner = field(data, 'owner');
    create.mutate({
      body: {
        type: field(data, 'type') as AssetType,
        name: field(data, 'name') ?? '',
        criticality: field(data, 'criticality') as Level,
        exposure: field(data, 'exposure') as Exposure,
        ...(owner === undefined ? {} : { owner }),
        tags,
      },
    });
  };
  const known = create.error instanceof RrsError && create.error.status === 409 ? /[0-9a-f-]{36}/.exec(create.error.message)?.[0] : undefined;
  return (
    <Dialog title="New asset" action="Create the asset" onClose={onClose} onSubmit={submit} isBusy={create.isPending} error={create.error}>
      <NativeSelect data-autofocus name="type" label="Type" data={assetTypes.map((value) => ({ value, label: term(value) }))} />
      <TextInput name="name" label="Name" description="As reports state it" required />
      <NativeSelect name="criticality" label="Criticality" data={levels} defaultValue="medium" />
      <NativeSelect name="exposure" label="Exposure" data={exposures} defaultValue="unknown" />
      <TextInput name="owner" label="Owner" />
      <WordsInput label="Tags" value={tags} onChange={setTags} />
      {known !== undefined && (
        <p>
          <Link to="/assets/$id" params={{ id: known }} onClick={onClose}>
            Open the asset that has this name
          </Link>
        </p>
      )}
    </Dialog>
  );
}
