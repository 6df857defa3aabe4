import { ActionIcon, Menu } from '@mantine/core';
import { PersonIcon } from '@primer/octicons-react';
import { useNavigate } from '@tanstack/react-router';
import { type Me, signOut } from '../api/session.ts';
import { messageOf } from '../parts/states.tsx';
import { announce } from '../parts/toast.tsx';
import { term } from '../parts/words.ts';

/** Menus are a part of Mantine that no page needs before it is drawn, so this one is loaded later. */
export function AccountMenu({ me }: { me: Me }) {
  const navigate = useNavigate();
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon aria-label={`Account of ${me.name}`}>
          <PersonIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {me.name} · {term(me.role)}
        </Menu.Label>
        <Menu.Item onClick={() => void navigate({ to: '/settings/profile' })}>Profile</Menu.Item>
        <Menu.Item component="a" href="/docs/">
          API documentation
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => void signOut().catch((error: unknown) => announce(messageOf(error), { isBad: true }))}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
