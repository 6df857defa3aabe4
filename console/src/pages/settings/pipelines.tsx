import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { ResultOf } from '@rrs/client';
import { useState } from 'react';
import { useApi, useChange } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { useCommands } from '../../keys/keys.ts';
import { Copy } from '../../parts/copy.tsx';
import { Dialog, field } from '../../parts/dialog.tsx';
import { ReadOnly } from '../../parts/manage/read-only.tsx';
import { RowMenu } from '../../parts/manage/row-menu.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Empty, Show } from '../../parts/states.tsx';
import { announce } from '../../parts/toast.tsx';
import { term } from '../../parts/words.ts';
import { SettingsPage } from './settings-page.tsx';

type Trust = ResultOf<'listPipelineTrusts'>['data'][number];
type Open = { what: 'create' } | { what: 'edit' | 'delete'; trust: Trust } | null;

const GITHUB = 'https://token.actions.githubusercontent.com';

export function Pipelines() {
  const trusts = useApi('listPipelineTrusts', { query: { limit: 100 } });
  const may = useMay('api_keys:manage');
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  useCommands(may ? { create: () => setOpen({ what: 'create' }) } : {});
  return (
    <SettingsPage
      title="Pipelines"
      about="Pipelines that are trusted by the tokens of their CI system. They need no API key, so there is none to leak or to renew."
      actions={may && <Button onClick={() => setOpen({ what: 'create' })}>Trust a pipeline</Button>}
    >
      <ReadOnly permission="api_keys:manage" to="trust pipelines" />
      <Show query={trusts}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No trusted pipelines">GitHub Actions and GitLab sign a token for each job. Say whose jobs may import reports.</Empty>
          ) : (
            <SimpleTable
              label="Trusted pipelines"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { label: 'Name', cell: ({ name }) => name },
                {
                  label: 'Issuer',
                  cell: ({ issuer }) => <span title={issuer}>{issuer === GITHUB ? 'GitHub Actions' : issuer.replace(/^https:\/\//, '')}</span>,
                },
                { label: 'Conditions', cell: ({ conditions }) => <code>{writeConditions(conditions).replaceAll('\n', ', ')}</code> },
                { label: 'Audience', cell: ({ audience }) => <Copy text={audience} shown={audience} label="Copy the audience" /> },
                { label: 'Role', cell: ({ role }) => term(role) },
                {
                  label: 'Actions',
                  align: 'end',
                  cell: (trust) =>
                    may ? (
                      <RowMenu
                        label={`Actions for ${trust.name}`}
                        actions={[
                          { label: 'Edit', onChoose: () => setOpen({ what: 'edit', trust }) },
                          { label: 'Delete', onChoose: () => setOpen({ what: 'delete', trust }), isDangerous: true },
                        ]}
                      />
                    ) : null,
                },
              ]}
            />
          )
        }
      </Show>
      {open?.what === 'create' && <Edit trust={null} onClose={close} />}
      {open?.what === 'edit' && <Edit trust={open.trust} onClose={close} />}
      {open?.what === 'delete' && <Delete trust={open.trust} onClose={close} />}
    </SettingsPage>
  );
}

type Conditions = Record<string, string[]>;

/** One claim per line: `ref: refs/heads/main, refs/heads/release-*`. */
function readConditions(text: string): Conditions {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...rest] = line.split(':');
      return [
        name.trim(),
        rest
          .join(':')
          .split(',')
          .map((value) => value.trim())
          .filter((value) => value !== ''),
      ];
    }),
  );
}

const writeConditions = (conditions: Conditions): string =>
  Object.entries(conditions)
    .map(([name, values]) => `${name}: ${values.join(', ')}`)
    .join('\n');

function Edit({ trust, onClose }: { trust: Trust | null; onClose: () => void }) {
  const create = useChange('createPipelineTrust', ['listPipelineTrusts'], onClose);
  const update = useChange('updatePipelineTrust', ['listPipelineTrusts'], onClose);
  const submit = (data: FormData) => {
    const body = {
      name: field(data, 'name') ?? '',
      issuer: field(data, 'issuer') ?? '',
      conditions: readConditions(field(data, 'conditions') ?? ''),
      role: field(data, 'role') as Trust['role'],
      asset_id: field(data, 'asset') ?? null,
    };
    if (trust === null) create.mutate({ body });
    else update.mutate({ path: { id: trust.id }, header: { 'If-Match': `"${trust.version}"` }, body });
  };
  return (
    <Dialog
      title={trust === null ? 'Trust a pipeline' : `Edit ${trust.name}`}
      action={trust === null ? 'Trust the pipeline' : 'Save'}
      onClose={onClose}
      onSubmit={submit}
      isBusy={create.isPending || update.isPending}
      error={create.error ?? update.error}
      size="lg"
    >
      <TextInput data-autofocus name="name" label="Name" description="Imports and the audit trail show it" defaultValue={trust?.name ?? ''} required />
      <TextInput
        name="issuer"
        label="Issuer"
        description={`GitHub Actions: ${GITHUB}. GitLab: the URL of the instance`}
        defaultValue={trust?.issuer ?? GITHUB}
        required
      />
      <Textarea
        name="conditions"
        label="Conditions"
        description="One claim per line, with the values that are allowed. All must match. * stands for characters other than / and :"
        placeholder={'repository: acme/shop\nref: refs/heads/main'}
        defaultValue={writeConditions(trust?.conditions ?? {})}
        required
      />
      <NativeSelect
        name="role"
        label="Role"
        defaultValue={trust?.role ?? 'analyst'}
        data={[
          { value: 'analyst', label: 'Analyst: imports reports' },
          { value: 'viewer', label: 'Viewer: only reads' },
        ]}
      />
      <TextInput name="asset" label="Only for this asset" description="The id of the asset. Empty: any asset" defaultValue={trust?.asset_id ?? ''} />
    </Dialog>
  );
}

function Delete({ trust: { id, name }, onClose }: { trust: Trust; onClose: () => void }) {
  const remove = useChange('deletePipelineTrust', ['listPipelineTrusts'], () => {
    announce('The pipeline is no longer trusted.');
    onClose();
  });
  return (
    <Dialog
      title={`Delete ${name}`}
      action="Trust it no longer"
      isDangerous
      onClose={onClose}
      onSubmit={() => remove.mutate({ path: { id } })}
      isBusy={remove.isPending}
      error={remove.error}
    >
      <p>Its jobs are refused from now on.</p>
    </Dialog>
  );
}
