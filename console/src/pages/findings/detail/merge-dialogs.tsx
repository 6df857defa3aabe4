import { Select, Textarea } from '@mantine/core';
import type { Finding } from '@rrs/client';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useState } from 'react';
import { useApi, useChange } from '../../../api/client.ts';
import { expectOwnEvents } from '../../../api/live.ts';
import { restartLists } from '../../../lists/infinite.ts';
import { Dialog, field } from '../../../parts/dialog.tsx';
import { announce } from '../../../parts/toast.tsx';

const changes = ['getFinding', 'getFindingIdentity', 'listFindingHistory', 'getFindingStats'] as const;

/** Two findings of one asset that are the same become one. The older one stays. */
export function MergeDialog({ finding, onClose }: { finding: Finding; onClose: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const q = useDeferredValue(text.trim());
  const query = { asset_id: finding.asset.id, limit: 20, sort: '-risk_score' as const, ...(q.length < 2 || chosen !== null ? {} : { q }) };
  const found = useApi('listFindings', { query }, { keep: true });
  const navigate = useNavigate();
  const merge = useChange('mergeFinding', changes, ({ id }) => {
    announce('The findings are one.');
    onClose();
    void restartLists('listFindings');
    void navigate({ to: '/findings/$id', params: { id } });
  });
  const submit = (data: FormData) => {
    if (chosen === null) return;
    expectOwnEvents();
    merge.mutate({ path: { id: finding.id }, body: { into: chosen, reason: field(data, 'reason') ?? '' } });
  };
  const others = (found.data?.data ?? []).filter(({ id }) => id !== finding.id);
  return (
    <Dialog
      title="Merge with another finding"
      action="Merge the findings"
      onClose={onClose}
      onSubmit={submit}
      isBusy={merge.isPending}
      error={merge.error}
      isDisabled={chosen === null}
    >
      <Select
        data-autofocus
        label={`The finding of ${finding.asset.name} that is the same`}
        placeholder="Search by title or id"
        searchable
        required
        nothingFoundMessage="No other finding of this asset matches"
        filter={({ options }) => options}
        data={others.map(({ id, title, vulnerability_ids: [first] }) => ({ value: id, label: first === undefined ? title : `${title} (${first})` }))}
        value={chosen}
        onChange={setChosen}
        onSearchChange={setText}
      />
      <p>The older one stays. It gets the sightings of both, and the less closed status. You can separate them again.</p>
      <Textarea name="reason" label="Why they are the same" required minLength={3} />
    </Dialog>
  );
}

/** Undoes a merge: `id` is the finding that is no longer listed. */
export function SplitDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const navigate = useNavigate();
  const split = useChange('splitFinding', changes, () => {
    announce('The findings are separate again.');
    onClose();
    void restartLists('listFindings');
    void navigate({ to: '/findings/$id', params: { id } });
  });
  const submit = (data: FormData) => {
    expectOwnEvents();
    split.mutate({ path: { id }, body: { reason: field(data, 'reason') ?? '' } });
  };
  return (
    <Dialog title="Separate the findings" action="Separate the findings" onClose={onClose} onSubmit={submit} isBusy={split.isPending} error={split.error}>
      <p>Both get back their sightings and their status. What scans and people changed since then is kept.</p>
      <Textarea data-autofocus name="reason" label="Why they are different" required minLength={3} />
    </Dialog>
  );
}
