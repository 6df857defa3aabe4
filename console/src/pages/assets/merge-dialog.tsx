import { Textarea } from '@mantine/core';
import type { ResultOf } from '@rrs/client';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useChange } from '../../api/client.ts';
import { Dialog, field } from '../../parts/dialog.tsx';
import { AssetPicker } from '../../parts/inputs/asset-picker.tsx';
import { announce } from '../../parts/toast.tsx';
import { count, term } from '../../parts/words.ts';

type Details = ResultOf<'getAsset'>;
const changes = ['getAsset', 'listAssets', 'listAssetTracks', 'listAssetVersions', 'listFindings'] as const;

/** Two assets that are the same become one. The older one stays. */
export function MergeDialog({ asset, onClose }: { asset: Details; onClose: () => void }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const { data: other } = useApi('getAsset', { path: { id: chosen ?? '' } }, { enabled: chosen !== null });
  const navigate = useNavigate();
  const merge = useChange('mergeAsset', changes, ({ id, name }) => {
    announce(`The assets are one: “${name}”.`);
    onClose();
    void navigate({ to: '/assets/$id', params: { id } });
  });
  const submit = (data: FormData) => {
    const reason = field(data, 'reason');
    if (chosen !== null) merge.mutate({ path: { id: asset.id }, body: { into: chosen, ...(reason === undefined ? {} : { reason }) } });
  };
  const older = other && other.created_at < asset.created_at ? other : asset;
  return (
    <Dialog
      title={`Merge ${asset.name}`}
      action="Merge the assets"
      onClose={onClose}
      onSubmit={submit}
      isBusy={merge.isPending}
      error={merge.error}
      isDisabled={chosen === null}
    >
      <AssetPicker
        isFirst
        label={`The ${term(asset.type).toLowerCase()} that is the same`}
        type={asset.type}
        except={asset.id}
        value={chosen}
        onChange={setChosen}
      />
      {other && (
        <p>
          “{older.name}” stays, because it is older. It gets the identifiers, tracks, builds and{' '}
          {count((older === other ? asset : other).findings.active, 'active finding')} of the other one. Findings that both have become one. You can undo the
          merge.
        </p>
      )}
      <Textarea name="reason" label="Why they are the same" />
    </Dialog>
  );
}

/** Undoes the latest merge that the asset took part in. */
export function UnmergeDialog({ asset, onClose }: { asset: Details; onClose: () => void }) {
  const navigate = useNavigate();
  const unmerge = useChange('unmergeAsset', changes, ({ id, name }) => {
    announce(`“${name}” is a separate asset again.`);
    onClose();
    void navigate({ to: '/assets/$id', params: { id } });
  });
  const submit = (data: FormData) => {
    const reason = field(data, 'reason');
    unmerge.mutate({ path: { id: asset.id }, body: reason === undefined ? {} : { reason } });
  };
  return (
    <Dialog title="Undo the last merge" action="Separate the assets" onClose={onClose} onSubmit={submit} isBusy={unmerge.isPending} error={unmerge.error}>
      <p>Both assets get back their identifiers, tracks, builds and findings. What scans have reported since belongs to the asset that they named.</p>
      <Textarea data-autofocus name="reason" label="Why they are different" />
    </Dialog>
  );
}

/** Takes an asset out of use, or puts it back. */
export function RetireDialog({ asset, onClose }: { asset: Details; onClose: () => void }) {
  const update = useChange('updateAsset', changes, ({ retired }) => {
    announce(retired ? 'The asset is retired.' : 'The asset is back in use.');
    onClose();
  });
  const submit = () => update.mutate({ path: { id: asset.id }, header: { 'If-Match': `"${asset.version}"` }, body: { retired: !asset.retired } });
  return (
    <Dialog
      title={asset.retired ? `Put ${asset.name} back in use` : `Retire ${asset.name}`}
      action={asset.retired ? 'Put it back in use' : 'Retire the asset'}
      onClose={onClose}
      onSubmit={submit}
      isBusy={update.isPending}
      error={update.error}
      isDangerous={!asset.retired}
    >
      <p>
        {asset.retired
          ? 'Its findings stay withdrawn until a scan shows them again.'
          : `${count(asset.findings.active, 'active finding')} will be withdrawn. The asset is no longer listed.`}
      </p>
    </Dialog>
  );
}
