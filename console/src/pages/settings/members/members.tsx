import { Button, TextInput } from '@mantine/core';
import { useDeferredValue, useState } from 'react';
import { useApi, useChange } from '../../../api/client.ts';
import { useMay, useMe } from '../../../api/session.ts';
import { useCommands } from '../../../keys/keys.ts';
import { ReadOnly } from '../../../parts/manage/read-only.tsx';
import { RowMenu } from '../../../parts/manage/row-menu.tsx';
import { SecretOnce } from '../../../parts/manage/secret-once.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { Empty, messageOf, Show } from '../../../parts/states.tsx';
import { Time } from '../../../parts/time.tsx';
import { announce } from '../../../parts/toast.tsx';
import { term } from '../../../parts/words.ts';
import { SettingsPage } from '../settings-page.tsx';
import { AddMember, EditMember, type Member, RemoveMember } from './member-dialogs.tsx';

type Open = { what: 'add' } | { what: 'edit' | 'remove'; member: Member } | { what: 'link'; name: string; url: string } | null;

/** The rest is found by a search. */
const MOST = 100;

const complain = (error: unknown): void => announce(messageOf(error), { isBad: true });

export function Members() {
  const [text, setText] = useState('');
  const q = useDeferredValue(text.trim());
  const members = useApi('listMembers', { query: { limit: MOST, ...(q === '' ? {} : { q }) } }, { keep: true });
  const isMore = q !== '' || (members.data?.page.next_cursor ?? null) !== null;
  const may = useMay('members:manage');
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const invite = useChange('inviteMember', ['listMembers']);
  const showLink = ({ id, name }: { id: string; name: string }) =>
    invite.mutate({ path: { id } }, { onSuccess: ({ url }) => setOpen({ what: 'link', name, url }), onError: complain });
  useCommands(may ? { create: () => setOpen({ what: 'add' }) } : {});
  return (
    <SettingsPage
      title="Members"
      about="People of your organization. A new member chooses a password with a link that you send, or signs in through the identity provider."
      actions={may && <Button onClick={() => setOpen({ what: 'add' })}>Add a member</Button>}
    >
      <ReadOnly permission="members:manage" to="add, change and remove members" />
      {isMore && (
        <TextInput
          aria-label="Find members"
          placeholder={`The first ${MOST} are shown. Search by name or e-mail address`}
          maxLength={200}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      )}
      <Show query={members}>
        {({ data }) =>
          data.length > 0 ? (
            <List rows={data} onOpen={setOpen} onInvite={showLink} />
          ) : q === '' ? (
            <Empty title="No members">Only API keys can use the service.</Empty>
          ) : (
            <Empty title="No member matches" />
          )
        }
      </Show>
      {open?.what === 'add' && (
        <AddMember
          onClose={close}
          onAdded={(member, isInvited) => {
            close();
            announce(`${member.name} is a member.`);
            if (isInvited) showLink(member);
          }}
        />
      )}
      {open?.what === 'edit' && <EditMember member={open.member} onClose={close} />}
      {open?.what === 'remove' && <RemoveMember member={open.member} onClose={close} />}
      {open?.what === 'link' && (
        <SecretOnce title={`Link for ${open.name}`} secret={open.url} onClose={close}>
          <p>Send it to {open.name} only. It works once, for 24 hours, and lets them choose a password.</p>
        </SecretOnce>
      )}
    </SettingsPage>
  );
}

interface ListProps {
  rows: readonly Member[];
  onOpen: (open: Open) => void;
  onInvite: (member: Member) => void;
}

function List({ rows, onOpen, onInvite }: ListProps) {
  const me = useMe();
  const may = useMay('members:manage');
  const unlink = useChange('unlinkMember', ['listMembers'], () => announce('The link to the identity provider is removed.'));
  return (
    <SimpleTable
      label="Members"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { label: 'Name', cell: ({ id, name }) => `${name}${id === me.id ? ' (you)' : ''}` },
        { label: 'E-mail', cell: ({ email }) => email },
        { label: 'Role', cell: ({ role }) => term(role) },
        { label: 'Sign-in', cell: (member) => <span className="dim">{signInOf(member)}</span> },
        { label: 'Member since', cell: ({ created_at }) => <Time at={created_at} /> },
        {
          label: 'Actions',
          align: 'end',
          cell: (member) =>
            may ? (
              <RowMenu
                label={`Actions for ${member.name}`}
                actions={[
                  { label: 'Edit', onChoose: () => onOpen({ what: 'edit', member }) },
                  { label: member.has_password ? 'Link to reset the password' : 'Link to choose a password', onChoose: () => onInvite(member) },
                  ...(member.identity_provider_linked
                    ? [{ label: 'Unlink from the identity provider', onChoose: () => unlink.mutate({ path: { id: member.id } }, { onError: complain }) }]
                    : []),
                  { label: 'Remove', onChoose: () => onOpen({ what: 'remove', member }), isDangerous: true },
                ]}
              />
            ) : null,
        },
      ]}
    />
  );
}

function signInOf({ has_password, must_change_password, identity_provider_linked }: Member): string {
  const ways = [
    ...(has_password ? [must_change_password ? 'Password chosen by somebody else' : 'Password'] : []),
    ...(identity_provider_linked ? ['Identity provider'] : []),
  ];
  return ways.join(', ') || 'Not yet';
}
