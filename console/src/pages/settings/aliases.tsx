import { Button, Textarea, TextInput } from '@mantine/core';
import type { ResultOf } from '@rrs/client';
import { useState } from 'react';
import { useApi, useChange } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { useProviderNames } from '../../api/source-names.ts';
import { FilterBar } from '../../lists/filter-bar.tsx';
import type { Filter } from '../../lists/filters.ts';
import { useQueryString } from '../../lists/query.ts';
import { Dialog, field } from '../../parts/dialog.tsx';
import { ReadOnly } from '../../parts/manage/read-only.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Empty, Show } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { announce } from '../../parts/toast.tsx';
import { SettingsPage } from './settings-page.tsx';

type Alias = ResultOf<'listVulnerabilityAliases'>['data'][number];
type Open = { what: 'add' } | { what: 'revoke' | 'restore'; alias: Alias } | null;

const uses = ['all', 'claimants', 'none'] as const;
const filters: readonly Filter[] = [
  { name: 'alias', label: 'Alias' },
  { name: 'vulnerability', label: 'Vulnerability' },
  { name: 'counts_for', label: 'Counts for', options: uses, isList: true },
];
const CHANGED = ['listVulnerabilityAliases', 'listFindings', 'getFinding'] as const;
const origins: Readonly<Record<Alias['origin'], string>> = {
  knowledge: 'Vulnerability data',
  sources: 'Several tools agree',
  person: 'A person',
  claim: 'A tool, unconfirmed',
};
const meaning: Readonly<Record<Alias['counts_for'], string>> = { all: 'All sources', claimants: 'Only the tools that say so', none: 'Nobody' };

/** Which ids stand for one vulnerability. */
export function Aliases() {
  const [query, setQuery] = useQueryString();
  const nameOf = useProviderNames();
  const aliases = useApi(
    'listVulnerabilityAliases',
    {
      query: {
        limit: 100,
        ...(query.alias ? { alias: query.alias } : {}),
        ...(query.vulnerability ? { vulnerability: query.vulnerability } : {}),
        ...(query.counts_for ? { counts_for: uses.filter((use) => query.counts_for?.split(',').includes(use)) } : {}),
      },
    },
    { keep: true },
  );
  const may = useMay('findings:triage');
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  return (
    <SettingsPage
      title="Aliases"
      about="Tools name one vulnerability in different ways. Findings with ids of one vulnerability are one finding."
      actions={may && <Button onClick={() => setOpen({ what: 'add' })}>Add an alias</Button>}
    >
      <FilterBar filters={filters} query={query} onChange={setQuery} example="vulnerability:CVE-2020-8203" />
      <ReadOnly permission="findings:triage" to="add and revoke aliases" />
      <Show query={aliases}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No aliases match">They come with reports and vulnerability data, or are added by hand.</Empty>
          ) : (
            <SimpleTable
              label="Aliases"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { label: 'Alias', cell: ({ alias }) => <code>{alias}</code> },
                { label: 'Vulnerability', cell: ({ vulnerability }) => <code>{vulnerability}</code> },
                {
                  label: 'Says',
                  cell: ({ origin, added_by, claims }) => (
                    <span title={claims.map(({ provider }) => nameOf(provider)).join(', ')}>{added_by ?? origins[origin]}</span>
                  ),
                },
                { label: 'Counts for', cell: ({ counts_for }) => meaning[counts_for] },
                { label: 'Since', cell: ({ created_at }) => <Time at={created_at} /> },
                {
                  label: 'Revoked',
                  cell: ({ revoked_at, revoked_by, revoked_reason }) =>
                    revoked_at ? (
                      <span className="dim" title={revoked_reason ?? ''}>
                        {revoked_by} <Time at={revoked_at} />
                      </span>
                    ) : null,
                },
                {
                  label: 'Actions',
                  align: 'end',
                  cell: (alias) =>
                    may ? (
                      <Button
                        variant="default"
                        size="compact-xs"
                        aria-label={`${alias.revoked_at ? 'Restore' : 'Revoke'} ${alias.alias}`}
                        onClick={() => setOpen({ what: alias.revoked_at ? 'restore' : 'revoke', alias })}
                      >
                        {alias.revoked_at ? 'Restore' : 'Revoke'}
                      </Button>
                    ) : null,
                },
              ]}
            />
          )
        }
      </Show>
      {open?.what === 'add' && <Add onClose={close} />}
      {(open?.what === 'revoke' || open?.what === 'restore') && <Decide what={open.what} alias={open.alias} onClose={close} />}
    </SettingsPage>
  );
}

function Add({ onClose }: { onClose: () => void }) {
  const add = useChange('addVulnerabilityAlias', CHANGED, () => {
    announce('The alias is added. Findings that it concerns are merged.');
    onClose();
  });
  const submit = (data: FormData) =>
    add.mutate({ body: { alias: field(data, 'alias') ?? '', vulnerability: field(data, 'vulnerability') ?? '', reason: field(data, 'reason') ?? '' } });
  return (
    <Dialog title="Add an alias" action="Add the alias" onClose={onClose} onSubmit={submit} isBusy={add.isPending} error={add.error}>
      <TextInput data-autofocus name="alias" label="Alias" placeholder="SNYK-JS-LODASH-590103" required />
      <TextInput name="vulnerability" label="Vulnerability" placeholder="CVE-2020-8203" required />
      <Textarea name="reason" label="Reason" required />
    </Dialog>
  );
}

function Decide({ what, alias: { alias, vulnerability }, onClose }: { what: 'revoke' | 'restore'; alias: Alias; onClose: () => void }) {
  const done = () => {
    announce(what === 'revoke' ? 'The alias is revoked.' : 'The alias counts again.');
    onClose();
  };
  const revoke = useChange('revokeVulnerabilityAlias', CHANGED, done);
  const restore = useChange('restoreVulnerabilityAlias', CHANGED, done);
  const submit = (data: FormData) => (what === 'revoke' ? revoke : restore).mutate({ path: { alias }, body: { reason: field(data, 'reason') ?? '' } });
  return (
    <Dialog
      title={`${what === 'revoke' ? 'Revoke' : 'Restore'} ${alias}`}
      action={what === 'revoke' ? 'Revoke the alias' : 'Restore the alias'}
      isDangerous={what === 'revoke'}
      onClose={onClose}
      onSubmit={submit}
      isBusy={revoke.isPending || restore.isPending}
      error={revoke.error ?? restore.error}
    >
      <p>
        {what === 'revoke'
          ? `${alias} and ${vulnerability} are then two vulnerabilities, and findings that were merged because of it are split.`
          : `${alias} then stands for ${vulnerability} again.`}
      </p>
      <Textarea data-autofocus name="reason" label="Reason" required />
    </Dialog>
  );
}
