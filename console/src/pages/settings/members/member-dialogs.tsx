import { Checkbox, NativeSelect, TextInput } from '@mantine/core';
import type { ResultOf, Role } from '@rrs/client';
import { useState } from 'react';
import { useChange } from '../../../api/client.ts';
import { useMe } from '../../../api/session.ts';
import { Dialog, field } from '../../../parts/dialog.tsx';
import { announce } from '../../../parts/toast.tsx';
import { assignable, roleHelp } from '../roles.ts';

export type Member = ResultOf<'listMembers'>['data'][number];

function RoleChoice({ role, onChange }: { role: Role; onChange: (role: Role) => void }) {
  const { role: own } = useMe();
  const options = assignable(own);
  return (
    <NativeSelect
      label="Role"
      description={roleHelp[role]}
      value={role}
      onChange={({ target }) => onChange(target.value as Role)}
      data={options.some(({ value }) => value === role) ? options : [...options, role]}
    />
  );
}

export function AddMember({ onClose, onAdded }: { onClose: () => void; onAdded: (member: ResultOf<'addMember'>, isInvited: boolean) => void }) {
  const [role, setRole] = useState<Role>('analyst');
  const [isInvited, setInvited] = useState(true);
  const add = useChange('addMember', ['listMembers'], (member) => onAdded(member, isInvited));
  const submit = (data: FormData) => add.mutate({ body: { name: field(data, 'name') ?? '', email: field(data, 'email') ?? '', role } });
  return (
    <Dialog title="Add a member" action="Add the member" onClose={onClose} onSubmit={submit} isBusy={add.isPending} error={add.error}>
      <TextInput data-autofocus name="name" label="Name" required />
      <TextInput name="email" type="email" label="E-mail" required />
      <RoleChoice role={role} onChange={setRole} />
      <Checkbox
        checked={isInvited}
        onChange={({ target }) => setInvited(target.checked)}
        label="Create a link with which they choose a password"
        description="Not needed if they sign in through the identity provider"
      />
    </Dialog>
  );
}

export function EditMember({ member: { id, name, role: before, version }, onClose }: { member: Member; onClose: () => void }) {
  const [role, setRole] = useState<Role>(before);
  const update = useChange('updateMember', ['listMembers', 'getMe'], onClose);
  const submit = (data: FormData) =>
    update.mutate({ path: { id }, header: { 'If-Match': `"${version}"` }, body: { name: field(data, 'name') ?? name, ...(role === before ? {} : { role }) } });
  return (
    <Dialog title={`Edit ${name}`} action="Save" onClose={onClose} onSubmit={submit} isBusy={update.isPending} error={update.error}>
      <TextInput data-autofocus name="name" label="Name" defaultValue={name} required />
      <RoleChoice role={role} onChange={setRole} />
    </Dialog>
  );
}

export function RemoveMember({ member: { id, name }, onClose }: { member: Member; onClose: () => void }) {
  const remove = useChange('removeMember', ['listMembers'], () => {
    announce(`${name} is no longer a member.`);
    onClose();
  });
  return (
    <Dialog
      title={`Remove ${name}`}
      action="Remove the member"
      isDangerous
      onClose={onClose}
      onSubmit={() => remove.mutate({ path: { id } })}
      isBusy={remove.isPending}
      error={remove.error}
    >
      <p>Their sessions and keys end at once. What they did stays in the audit trail.</p>
    </Dialog>
  );
}
