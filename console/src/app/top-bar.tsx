import { ActionIcon } from '@mantine/core';
import { MoonIcon, QuestionIcon, SearchIcon, SunIcon } from '@primer/octicons-react';
import { lazy, Suspense } from 'react';
import { useLive } from '../api/live.ts';
import type { Me } from '../api/session.ts';
import { labelOf } from '../keys/keys.ts';
import { setPreference } from '../theme/preferences.ts';
import css from './top-bar.module.css';

const AccountMenu = lazy(async () => ({ default: (await import('./account-menu.tsx')).AccountMenu }));

/** Whether changes of others arrive by themselves. */
function LiveDot() {
  const isLive = useLive();
  const text = isLive ? 'Live: changes arrive by themselves' : 'Not live: pages are read again every 30 seconds';
  return <span className={css.live} data-live={isLive || undefined} role="img" aria-label={text} title={text} />;
}

export function TopBar({ me, onPalette, onHelp }: { me: Me; onPalette: () => void; onHelp: () => void }) {
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
        <Suspense fallback={<span className={css.account} />}>
          <AccountMenu me={me} />
        </Suspense>
      </div>
    </header>
  );
}
