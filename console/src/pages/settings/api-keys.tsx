import { Button, NativeSelect, TextInput } from '@mantine/core';
import type { ResultOf, Role } from '@rrs/client';
import { useState } from 'react';
import { useApi, useChange } from '../../api/client.ts';
import { useMay, useMe } from '../../api/session.ts';
import { useCommands } from '../../keys/keys.ts';
import { Dialog, field } from '../../parts/dialog.tsx';
import { ReadOnly } from '../../parts/manage/read-only.tsx';
import { RowMenu } from '../../parts/manage/row-menu.tsx';
import { SecretOnce } from '../../parts/manage/secret-once.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Empty, Show } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { announce } from '../../parts/toast.tsx';
import { term } from '../../parts/words.ts';
import { assignable, roleHelp } from './roles.ts';
import { SettingsPage } from './settings-page.tsx';

type Key = ResultOf<'listApiKeys'>['data'][number];
type Open = { what: 'create' } | { what: 'edit' | 'revoke'; key: Key } | { what: 'secret'; name: string; secret: string } | null;

export function ApiKeys() {
  const keys = useApi('listApiKeys', { query: { limit: 100, sort: '-created_at' } });
  const may = useMay('api_keys:manage');
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  useCommands(may ? { create: () => setOpen({ what: 'create' }) } : {});
  return (
    <SettingsPage
      title="API keys"
      about="Keys for programs. A key can do what its role can do. Pipelines do not need one: trust them instead."
      actions={may && <Button onClick={() => setOpen({ what: 'create' })}>Create a key</Button>}
    >
      <ReadOnly permission="api_keys:manage" to="create and revoke keys" />
      <Show query={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No API keys" />
          ) : (
            <SimpleTable
              label="API keys"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { label: 'Name', cell: ({ name }) => name },
                { label: 'Key', cell: ({ prefix }) => <code>{prefix}…</code> },
                { label: 'Role', cell: ({ role }) => term(role) },
                { label: 'Status', cell: ({ status }) => <StatusMark status={status} /> },
                { label: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} none="never" /> },
                { label: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} none="never" /> },
                {
                  label: 'Created',
                  cell: ({ created_at, created_by }) => (
                    <span className="dim">
                      {created_by} <Time at={created_at} />
                    </span>
                  ),
                },
                {
                  label: 'Actions',
                  align: 'end',
                  cell: (key) =>
                    may && key.status !== 'revoked' ? (
                      <RowMenu
                        label={`Actions for ${key.name}`}
                        actions={[
                          { label: 'Edit', onChoose: () => setOpen({ what: 'edit', key }) },
                          { label: 'Revoke', onChoose: () => setOpen({ what: 'revoke', key }), isDangerous: true },
                        ]}
                      />
                    ) : null,
                },
              ]}
            />
          )
        }
      </Show>
      {open?.what === 'create' && <Create onClose={close} onCreated={(name, secret) => setOpen({ what: 'secret', name, secret })} />}
      {open?.what === 'edit' && <Edit apiKey={open.key} onClose={close} />}
      {open?.what === 'revoke' && <Revoke apiKey={open.key} onClose={close} />}
      {open?.what === 'secret' && <SecretOnce title={`Key "${open.name}"`} secret={open.secret} onClose={close} />}
    </SettingsPage>
  );
}

/** A date in a form means the end of that day. */
const endOf = (day: string | undefined): string | null => (day === undefined ? null : `${day}T23:59:59.000Z`);
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

function Create({ onClose, onCreated }: { onClose: () => void; onCreated: (name: string, secret: string) => void }) {
  const { role } = useMe();
  const [chosen, setChosen] = useState<Role>('viewer');
  const create = useChange('createApiKey', ['listApiKeys'], ({ name, key }) => onCreated(name, key));
  const submit = (data: FormData) => create.mutate({ body: { name: field(data, 'name') ?? '', role: chosen, expires_at: endOf(field(data, 'expires')) } });
  return (
    <Dialog title="Create an API key" action="Create the key" onClose={onClose} onSubmit={submit} isBusy={create.isPending} error={create.error}>
      <TextInput data-autofocus name="name" label="Name" description="What uses the key" required />
      <NativeSelect
        label="Role"
        description={roleHelp[chosen]}
        value={chosen}
        onChange={({ target }) => setChosen(target.value as Role)}
        data={assignable(role)}
      />
      <TextInput name="expires" type="date" label="Expires" description="Empty: never" defaultValue={inDays(90)} min={inDays(1)} />
    </Dialog>
  );
}

function Edit({ apiKey: { id, name, expires_at, version }, onClose }: { apiKey: Key; onClose: () => void }) {
  const update = useChange('updateApiKey', ['listApiKeys'], onClose);
  const submit = (data: FormData) => {
    const day = field(data, 'expires');
    const isSame = day === expires_at?.slice(0, 10);
    update.mutate({
      path: { id },
      header: { 'If-Match': `"${version}"` },
      body: { name: field(data, 'name') ?? name, ...(isSame ? {} : { expires_at: endOf(day) }) },
    });
  };
  return (
    <Dialog title={`Edit ${name}`} action="Save" onClose={onClose} onSubmit={submit} isBusy={update.isPending} error={update.error}>
      <TextInput data-autofocus name="name" label="Name" defaultValue={name} required />
      <TextInput name="expires" type="date" label="Expires" description="Empty: never" defaultValue={expires_at?.slice(0, 10) ?? ''} min={inDays(1)} />
    </Dialog>
  );
}

function Revoke({ apiKey: { id, name }, onClose }: { apiKey: Key; onClose: () => void }) {
  const revoke = useChange('revokeApiKey', ['listApiKeys'], () => {
    announce('The key is revoked.');
    onClose();
  });
  return (
    <Dialog
      title={`Revoke ${name}`}
      action="Revoke the key"
      isDangerous
      onClose={onClose}
      onSubmit={() => revoke.mutate({ path: { id } })}
      isBusy={revoke.isPending}
      error={revoke.error}
    >
      <p>Programs that use it are refused from now on. This cannot be undone.</p>
    </Dialog>
  );
}
