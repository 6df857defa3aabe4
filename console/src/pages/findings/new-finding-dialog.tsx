import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import { type AssetType, RrsError, type Severity } from '@rrs/client';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useChange } from '../../api/client.ts';
import { expectOwnEvents } from '../../api/live.ts';
import { restartLists } from '../../lists/infinite.ts';
import { Dialog, field } from '../../parts/dialog.tsx';
import css from '../../parts/form.module.css';
import { AssetPicker } from '../../parts/inputs/asset-picker.tsx';
import { WordsInput } from '../../parts/inputs/words-input.tsx';
import { severities } from '../../parts/severity.tsx';
import { announce } from '../../parts/toast.tsx';
import { term } from '../../parts/words.ts';

const types: readonly AssetType[] = ['host', 'container_image', 'repository', 'package', 'web_application', 'cloud_resource', 'other'];

/** A weakness that no scanner reported, such as one of a penetration test. */
export function NewFindingDialog({ assetId, onClose }: { assetId: string | undefined; onClose: () => void }) {
  const [asset, setAsset] = useState<string | null>(assetId ?? null);
  const [isNewAsset, setNewAsset] = useState(false);
  const [ids, setIds] = useState<string[]>([]);
  const [tags, setTags] = useState<string[]>([]);
  const known = useApi('listTags', { query: { limit: 200 } });
  const navigate = useNavigate();
  const create = useChange('createFinding', ['getFindingStats', 'getFindingFacets'], ({ id, title }) => {
    onClose();
    announce(`Created the finding “${title}”.`);
    void restartLists('listFindings');
    void navigate({ to: '/findings/$id', params: { id } });
  });
  const submit = (data: FormData) => {
    expectOwnEvents();
    const given = <Name extends string>(...names: Name[]) =>
      Object.fromEntries(names.flatMap((name) => (field(data, name) === undefined ? [] : [[name, field(data, name)]]))) as Partial<Record<Name, string>>;
    create.mutate({
      body: {
        title: field(data, 'title') ?? '',
        severity: field(data, 'severity') as Severity,
        ...(isNewAsset ? { asset: { type: field(data, 'type') as AssetType, name: field(data, 'name') ?? '' } } : { asset_id: asset ?? '' }),
        location: given('component', 'version', 'path', 'url'),
        ...given('description', 'solution'),
        cves: ids,
        tags,
      },
    });
  };
  const existing = create.error instanceof RrsError && create.error.status === 409 ? /[0-9a-f-]{36}/.exec(create.error.message)?.[0] : undefined;
  return (
    <Dialog
      title="New finding"
      action="Create the finding"
      size="lg"
      onClose={onClose}
      onSubmit={submit}
      isBusy={create.isPending}
      error={create.error}
      isDisabled={!isNewAsset && asset === null}
    >
      <TextInput data-autofocus name="title" label="Title" description="What is wrong, in a few words" required maxLength={500} />
      <div className={css.pair}>
        <NativeSelect name="severity" label="Severity" data={severities.map((value) => ({ value, label: term(value) }))} defaultValue="high" />
        <NativeSelect
          label="Asset"
          value={isNewAsset ? 'new' : 'existing'}
          onChange={({ target }) => setNewAsset(target.value === 'new')}
          data={[
            { value: 'existing', label: 'One that exists' },
            { value: 'new', label: 'A new one' },
          ]}
        />
      </div>
      {isNewAsset ? (
        <div className={css.pair}>
          <NativeSelect name="type" label="Type of the asset" data={types.map((value) => ({ value, label: term(value) }))} />
          <TextInput name="name" label="Name of the asset" required maxLength={1000} />
        </div>
      ) : (
        <AssetPicker label="Name of the asset" value={asset} onChange={setAsset} />
      )}
      <div className={css.pair}>
        <TextInput name="component" label="Component" description="Package or product, if it is about one" />
        <TextInput name="version" label="Version of the component" />
      </div>
      <div className={css.pair}>
        <TextInput name="path" label="Path of the file" />
        <TextInput name="url" label="URL of the page or endpoint" />
      </div>
      <div className={css.pair}>
        <WordsInput label="CVE IDs" placeholder="CVE-2026-12345" value={ids} onChange={setIds} />
        <WordsInput label="Tags" value={tags} onChange={setTags} suggestions={known.data?.data.map(({ name }) => name) ?? []} />
      </div>
      <Textarea name="description" label="Description" />
      <Textarea name="solution" label="How to remediate" />
      {existing !== undefined && (
        <p>
          <Link to="/findings/$id" params={{ id: existing }} onClick={onClose}>
            Open the finding that exists
          </Link>
        </p>
      )}
    </Dialog>
  );
}
