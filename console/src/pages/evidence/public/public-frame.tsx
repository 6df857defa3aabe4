import { ActionIcon } from '@mantine/core';
import { MoonIcon, SunIcon } from '@primer/octicons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { setPreference } from '../../../theme/preferences.ts';
import css from './public-frame.module.css';

/** A page for people without an account. */
export function PublicFrame({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Remediation Risk Service`;
  }, [title]);
  const toggleTheme = () => setPreference('theme', document.documentElement.getAttribute('data-mantine-color-scheme') === 'dark' ? 'light' : 'dark');
  return (
    <div className={css.page}>
      <header className={css.header}>
        <span className={css.product}>Remediation Risk Service</span>
        <nav aria-label="Pages">
          <Link to="/verify">Verify a package</Link>
        </nav>
        <ActionIcon aria-label="Switch between light and dark" onClick={toggleTheme}>
          <span className={css.whenLight}>
            <MoonIcon />
          </span>
          <span className={css.whenDark}>
            <SunIcon />
          </span>
        </ActionIcon>
      </header>
      <main className={css.content}>
        <h1>{title}</h1>
        {children}
      </main>
    </div>
  );
}
