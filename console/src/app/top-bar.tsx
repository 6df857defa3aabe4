import { ActionIcon, Menu } from '@mantine/core';
import { MoonIcon, PersonIcon, QuestionIcon, SearchIcon, SunIcon } from '@primer/octicons-react';
import { useNavigate } from '@tanstack/react-router';
import { useLive } from '../api/live.ts';
import { type Me, signOut } from '../api/session.ts';
import { labelOf } from '../keys/keys.ts';
import { messageOf } from '../parts/states.tsx';
import { announce } from '../parts/toast.tsx';
import { term } from '../parts/words.ts';
import { setPreference } from '../theme/preferences.ts';
import css from './top-bar.module.css';

/** Whether changes of others arrive by themselves. */
function LiveDot() {
  const isLive = useLive();
  const text = isLive ? 'Live: changes arrive by themselves' : 'Not live: pages are read again every 30 seconds';
  return <span className={css.live} data-live={isLive || undefined} role="img" aria-label={text} title={text} />;
}

export function TopBar({ me, onPalette, onHelp }: { me: Me; onPalette: () => void; onHelp: () => void }) {
  const navigate = useNavigate();
  const toggleTheme = () => setPreference('theme', document.documentElement.getAttribute('data-mantine-color-scheme') === 'dark' ? 'light' : 'dark');
  return (
    <header className={css.bar}>
      <button type="button" className={css.search} onClick={onPalette}>
        <SearchIcon size={14} aria-hidden />
        <span>Search or run a command</span>
        <kbd>{labelOf('mod+k')}</kbd>
      </button>
      <div className={css.end}>
        <LiveDot />
        <ActionIcon aria-label="Keys of this page" onClick={onHelp}>
          <QuestionIcon />
        </ActionIcon>
        <ActionIcon aria-label="Switch between light and dark" onClick={toggleTheme}>
          <span className={css.whenLight}>
            <MoonIcon />
          </span>
          <span className={css.whenDark}>
            <SunIcon />
          </span>
        </ActionIcon>
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
      </div>
    </header>
  );
}
