import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { Track } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useChange } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Dialog, field } from '../../parts/dialog.tsx';
import { RowMenu } from '../../parts/manage/row-menu.tsx';
import { Section } from '../../parts/page.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Show } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { announce } from '../../parts/toast.tsx';
import { term } from '../../parts/words.ts';

type Action = 'rename' | 'merge' | 'unmerge' | 'end';
const labels: Readonly<Record<Action, string>> = { rename: 'Rename', merge: 'Merge into another track', unmerge: 'Undo the last merge', end: 'End the track' };

/** Branches, environments and release lines of an asset. Findings are open on a track until its own scans no longer show them. */
export function Tracks({ id }: { id: string }) {
  const tracks = useApi('listAssetTracks', { path: { id }, query: { limit: 100 } });
  const may = useMay('assets:manage');
  const [asked, setAsked] = useState<{ track: Track; action: Action } | null>(null);
  return (
    <Section title="Branches and environments">
      <Show query={tracks}>
        {({ data }) => (
          <SimpleTable
            label="Tracks"
            rows={data}
            keyOf={({ name }) => name}
            columns={[
              {
                label: 'Track',
                cell: ({ name }) => (
                  <Link to="/findings" search={{ asset_id: id, track: name }}>
                    {name}
                  </Link>
                ),
              },
              { label: 'Kind', cell: ({ kind, default: isDefault }) => `${term(kind)}${isDefault && kind !== 'default' ? ', default' : ''}` },
              { label: 'Counted', cell: ({ counts }) => (counts ? 'Yes' : 'No') },
              {
                label: 'Ended',
                cell: ({ ended_at, ended_by, ended_reason }) =>
                  ended_at === null ? null : (
                    <span className="dim" title={`${ended_by ?? ''} ${ended_reason ?? ''}`}>
                      <Time at={ended_at} />
                    </span>
                  ),
              },
              ...(may
                ? [
                    {
                      label: 'Action',
                      isLabelHidden: true as const,
                      align: 'end' as const,
                      cell: (track: Track) => (
                        <RowMenu
                          label={`Change the track ${track.name}`}
                          actions={(Object.keys(labels) as Action[])
                            .filter((action) => (action === 'merge' ? data.length > 1 : action === 'end' ? track.ended_at === null : true))
                            .map((action) => ({ label: labels[action], onChoose: () => setAsked({ track, action }) }))}
                        />
                      ),
                    },
                  ]
                : []),
            ]}
          />
        )}
      </Show>
      {asked && <TrackDialog id={id} {...asked} others={tracks.data?.data ?? []} onClose={() => setAsked(null)} />}
    </Section>
  );
}

interface TrackDialogProps {
  id: string;
  track: Track;
  action: Action;
  others: readonly Track[];
  onClose: () => void;
}

function TrackDialog({ id, track: { name }, action, others, onClose }: TrackDialogProps) {
  const changes = ['listAssetTracks', 'listAssetVersions', 'getAsset', 'listFindings'] as const;
  const done = (text: string) => () => {
    announce(text);
    onClose();
  };
  const rename = useChange('renameAssetTrack', changes, done('The track is renamed.'));
  const merge = useChange('mergeAssetTrack', changes, done('The tracks are merged.'));
  const unmerge = useChange('unmergeAssetTrack', changes, done('The tracks are separate again.'));
  const end = useChange('endAssetTrack', changes, done('The track ended.'));
  const path = { id, name };
  const submit = (data: FormData) => {
    const reason = field(data, 'reason');
    const why = reason === undefined ? {} : { reason };
    if (action === 'rename') rename.mutate({ path, body: { name: field(data, 'name') ?? '' } });
    else if (action === 'merge') merge.mutate({ path, body: { into: field(data, 'into') ?? '', ...why } });
    else if (action === 'unmerge') unmerge.mutate({ path, body: why });
    else end.mutate({ path, query: { reason: reason ?? '' } });
  };
  const all = { rename, merge, unmerge, end };
  return (
    <Dialog
      title={`${labels[action]}: ${name}`}
      action={action === 'rename' ? 'Rename' : action === 'merge' ? 'Merge' : action === 'unmerge' ? 'Separate them' : 'End the track'}
      onClose={onClose}
      onSubmit={submit}
      isBusy={all[action].isPending}
      error={all[action].error}
      isDangerous={action === 'end'}
    >
      {action === 'rename' && (
        <>
          <TextInput data-autofocus name="name" label="Name" required defaultValue={name} />
          <p className="dim">Later scans must state the new name. A scan that names the old one begins a new track.</p>
        </>
      )}
      {action === 'merge' && (
        <>
          <NativeSelect data-autofocus name="into" label="Track that stays" data={others.filter((each) => each.name !== name).map((each) => each.name)} />
          <p className="dim">It gets the builds and findings of “{name}”. Nothing is closed before its next complete scan.</p>
        </>
      )}
      {action === 'unmerge' && <p>Both tracks get back their builds and findings.</p>}
      {action === 'end' && <p>Findings that only this track has are withdrawn. A later scan of the track brings it back.</p>}
      {action !== 'rename' && <Textarea name="reason" label="Reason" required={action === 'end'} data-autofocus={action !== 'merge' || undefined} />}
    </Dialog>
  );
}
