import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { useMe } from '../../api/session.ts';
import { Page } from '../../parts/page.tsx';
import { pages } from './pages.ts';
import css from './settings-page.module.css';

interface SettingsFrame {
  title: string;
  /** What the page is for, in a sentence. */
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** `true`: the content scrolls in itself. */
  fixed?: boolean;
}

export function SettingsPage({ title, about, actions, children, fixed = false }: SettingsFrame) {
  const { permissions } = useMe();
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    document.title = `${title} · Settings · Remediation Risk Service`;
    // On narrow screens the links are one row, which scrolls.
    nav.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [title]);
  return (
    <Page title="Settings" fixed>
      <div className={css.settings}>
        <nav ref={nav} aria-label="Settings">
          {pages.map(({ label, path, permission }) =>
            permission === null || permissions.includes(permission) ? (
              <Link key={path} to={path} className={css.link} activeProps={{ 'data-active': true }}>
                {label}
              </Link>
            ) : null,
          )}
        </nav>
        <section className={fixed ? css.fixed : css.content} aria-label={title}>
          <div className={css.title}>
            <h2>{title}</h2>
            <div className={css.actions}>{actions}</div>
          </div>
          {about && <p className="dim">{about}</p>}
          {children}
        </section>
      </div>
    </Page>
  );
}
