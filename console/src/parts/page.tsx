import { type ReactNode, useEffect } from 'react';
import css from './page.module.css';

interface Frame {
  title: string;
  /** Next to the title: counts, status. */
  info?: ReactNode;
  /** At the right end of the title: buttons. */
  actions?: ReactNode;
  /** Between title and content, always visible: tabs, filters. */
  bar?: ReactNode;
  children: ReactNode;
  /** `true`: the content scrolls in itself, such as a virtual list. */
  fixed?: boolean;
}

/** The frame of every page: title, actions, and content that scrolls below them. */
export function Page({ title, info, actions, bar, children, fixed = false }: Frame) {
  useEffect(() => {
    document.title = `${title} · Remediation Risk Service`;
  }, [title]);
  return (
    <div className={css.page}>
      <header className={css.header}>
        <h1 className="ellipsis">{title}</h1>
        <div className={css.info}>{info}</div>
        <div className={css.actions}>{actions}</div>
      </header>
      {bar}
      <div className={fixed ? css.fixed : css.content}>{children}</div>
    </div>
  );
}

/** A part of a page with a heading. */
export function Section({ id, title, actions, children }: { id?: string; title: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section id={id} className={css.section} aria-label={title}>
      <div className={css.sectionTitle}>
        <h2>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}

/** Names and values in two columns. Rows without a value are left out. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={css.facts}>
      {rows.map(([name, value]) =>
        value === null || value === undefined || value === '' || value === false ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
