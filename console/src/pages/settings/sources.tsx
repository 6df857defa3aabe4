import { Button, Textarea } from '@mantine/core';
import type { ResultOf } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useChange } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { useSourceNames } from '../../api/source-names.ts';
import { useQueryString } from '../../lists/query.ts';
import { Tabs } from '../../lists/tabs.tsx';
import { Dialog, field } from '../../parts/dialog.tsx';
import { ReadOnly } from '../../parts/manage/read-only.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Empty, messageOf, Show } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { announce } from '../../parts/toast.tsx';
import { count, number, term } from '../../parts/words.ts';
import { SettingsPage } from './settings-page.tsx';

type Source = ResultOf<'listSources'>['data'][number];

const views = [
  { label: 'In use', query: { retired: 'false' } },
  { label: 'Silent for 45 days', query: { retired: 'false', stale: 'true' } },
  { label: 'Retired', query: { retired: 'true' } },
  { label: 'All', query: {} },
];
const RETIRED = ['listSources', 'listFindings', 'getFindingStats'] as const;

/** What reports findings. */
export function Sources() {
  const [query] = useQueryString();
  const is = (name: string): boolean | undefined => (query[name] === undefined ? undefined : query[name] === 'true');
  const [retired, stale] = [is('retired'), is('stale')];
  const sources = useApi(
    'listSources',
    { query: { limit: 200, ...(retired === undefined ? {} : { retired }), ...(stale === undefined ? {} : { stale }) } },
    { keep: true },
  );
  const [retiring, setRetiring] = useState<Source | null>(null);
  return (
    <SettingsPage
      title="Sources"
      about="The tools and connections that report findings. Retire one that will not scan again: what only it has seen is withdrawn."
    >
      <Tabs label="Sources" path="/settings/sources" views={views} query={query} />
      <ReadOnly permission="findings:triage" to="retire sources" />
      <Show query={sources}>
        {({ data }) =>
          data.length === 0 ? <Empty title="No sources">Sources appear with the first import or run.</Empty> : <List rows={data} onRetire={setRetiring} />
        }
      </Show>
      {retiring && <Retire source={retiring} onClose={() => setRetiring(null)} />}
    </SettingsPage>
  );
}

function List({ rows, onRetire }: { rows: readonly Source[]; onRetire: (source: Source) => void }) {
  const may = useMay('findings:triage');
  const nameOf = useSourceNames();
  const reactivate = useChange('reactivateSource', RETIRED, () => announce('The source is in use again.'));
  return (
    <SimpleTable
      label="Sources"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          label: 'Source',
          cell: (source) =>
            source.connection_id ? (
              <Link to="/integrations/$id" params={{ id: source.connection_id }}>
                {nameOf(source)}
              </Link>
            ) : (
              nameOf(source)
            ),
        },
        { label: 'Kind', cell: ({ kind }) => term(kind) },
        { label: 'Part of the repository', cell: ({ path }) => (path === '' ? <span className="dim">–</span> : <code>{path}</code>) },
        { label: 'Active findings', align: 'end', cell: ({ open_findings }) => number(open_findings) },
        { label: 'First scan', cell: ({ first_scan }) => <Time at={first_scan} /> },
        {
          label: 'Last scan',
          cell: ({ last_scan, stale }) => (
            <span className={stale ? 'bad' : undefined}>
              <Time at={last_scan} />
            </span>
          ),
        },
        {
          label: 'Retired',
          cell: ({ retired_at, retired_by, retired_reason }) =>
            retired_at ? (
              <span className="dim" title={retired_reason ?? ''}>
                {retired_by} <Time at={retired_at} />
              </span>
            ) : null,
        },
        {
          label: 'Actions',
          align: 'end',
          cell: (source) => {
            if (!may || source.kind === 'manual') return null;
            return source.retired_at ? (
              <Button
                variant="default"
                size="compact-xs"
                onClick={() => reactivate.mutate({ path: { id: source.id } }, { onError: (error) => announce(messageOf(error), { isBad: true }) })}
              >
                Use again
              </Button>
            ) : (
              <Button variant="default" size="compact-xs" aria-label={`Retire ${nameOf(source)}`} onClick={() => onRetire(source)}>
                Retire
              </Button>
            );
          },
        },
      ]}
    />
  );
}

function Retire({ source, onClose }: { source: Source; onClose: () => void }) {
  const nameOf = useSourceNames();
  const retire = useChange('retireSource', RETIRED, () => {
    announce('The source is retired.');
    onClose();
  });
  const submit = (data: FormData) => retire.mutate({ path: { id: source.id }, body: { reason: field(data, 'reason') ?? '' } });
  return (
    <Dialog
      title={`Retire ${nameOf(source)}`}
      action="Retire the source"
      isDangerous
      onClose={onClose}
      onSubmit={submit}
      isBusy={retire.isPending}
      error={retire.error}
    >
      <p>
        It still sees {count(source.open_findings, 'active finding')}. Those that no other source sees are withdrawn: the end of a source does not prove that
        they are fixed.
      </p>
      <Textarea data-autofocus name="reason" label="Reason" required />
    </Dialog>
  );
}
