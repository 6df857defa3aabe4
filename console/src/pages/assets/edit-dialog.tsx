import { NativeSelect, TextInput } from '@mantine/core';
import { type Exposure, type Level, type ResultOf, RrsError } from '@rrs/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { call, refresh } from '../../api/client.ts';
import { Dialog, field } from '../../parts/dialog.tsx';
import { WordsInput } from '../../parts/inputs/words-input.tsx';
import { Conflict, type Difference } from '../../parts/objects/conflict.tsx';
import { announce } from '../../parts/toast.tsx';
import { term } from '../../parts/words.ts';

type Details = ResultOf<'getAsset'>;

export const levels = ['low', 'medium', 'high', 'critical'].map((value) => ({ value, label: term(value) }));
export const exposures = ['internet', 'internal', 'unknown'].map((value) => ({ value, label: term(value) }));

interface Fields {
  name: string;
  criticality: Level;
  exposure: Exposure;
  owner: string | null;
  tags: string[];
}

/** Changes an asset. If somebody else was faster, both versions are shown before anything is overwritten. */
export function EditDialog({ asset, onClose }: { asset: Details; onClose: () => void }) {
  const [tags, setTags] = useState(asset.tags);
  const [other, setOther] = useState<Details | null>(null);
  const [differences, setDifferences] = useState<Difference[]>([]);
  const save = useMutation({
    mutationFn: async (fields: Fields) => {
      const { version } = other ?? asset;
      try {
        await call('updateAsset', { path: { id: asset.id }, header: { 'If-Match': `"${version}"` }, body: fields });
        announce('The asset is changed.');
        onClose();
        await refresh('getAsset', 'listAssets', 'listFindings');
      } catch (error) {
        if (!(error instanceof RrsError && error.status === 412)) throw error;
        const current = await call('getAsset', { path: { id: asset.id } });
        setOther(current);
        setDifferences(differencesOf(current, fields));
      }
    },
  });
  const submit = (data: FormData) =>
    save.mutate({
      name: field(data, 'name') ?? asset.name,
      criticality: field(data, 'criticality') as Level,
      exposure: field(data, 'exposure') as Exposure,
      owner: field(data, 'owner') ?? null,
      tags,
    });
  return (
    <Dialog
      title={`Edit ${asset.name}`}
      action={other === null ? 'Save' : 'Save my version'}
      onClose={onClose}
      onSubmit={submit}
      isBusy={save.isPending}
      error={save.error}
    >
      <TextInput data-autofocus name="name" label="Name" description="Reports that use the old name are still recognized" required defaultValue={asset.name} />
      <NativeSelect name="criticality" label="Criticality" data={levels} defaultValue={asset.criticality} />
      <NativeSelect name="exposure" label="Exposure" data={exposures} defaultValue={asset.exposure} />
      <TextInput name="owner" label="Owner" defaultValue={asset.owner ?? ''} />
      <WordsInput label="Tags" value={tags} onChange={setTags} />
      {other && <Conflict by={null} at={other.updated_at} differences={differences} />}
    </Dialog>
  );
}

function differencesOf(current: Details, yours: Fields): Difference[] {
  const rows: Difference[] = [
    { field: 'Name', theirs: current.name, yours: yours.name },
    { field: 'Criticality', theirs: term(current.criticality), yours: term(yours.criticality) },
    { field: 'Exposure', theirs: term(current.exposure), yours: term(yours.exposure) },
    { field: 'Owner', theirs: current.owner ?? '', yours: yours.owner ?? '' },
    { field: 'Tags', theirs: current.tags.join(', '), yours: yours.tags.join(', ') },
  ];
  return rows.filter(({ theirs, yours: own }) => theirs !== own);
}
