import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Permission, useMe } from '../../api/session.ts';
import { Page } from '../../parts/page.tsx';
import css from './settings-page.module.css';

/** The pages of the settings. People see those that they may read. */
const pages: readonly { label: string; path: string; permission: Permission | null }[] = [{ label: 'Profile', path: '/settings/profile', permission: null }];

export function SettingsPage({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  const { permissions } = useMe();
  return (
    <Page title="Settings" actions={actions} fixed>
      <div className={css.settings}>
        <nav aria-label="Settings">
          {pages.map(({ label, path, permission }) =>
            permission === null || permissions.includes(permission) ? (
              <Link key={path} to={path} className={css.link} activeProps={{ 'data-active': true }}>
                {label}
              </Link>
            ) : null,
          )}
        </nav>
        <section className={css.content} aria-label={title}>
          {children}
        </section>
      </div>
    </Page>
  );
}
