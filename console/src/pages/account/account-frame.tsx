import { type ReactNode, useEffect } from 'react';
import css from './account-frame.module.css';

/** A small form in the middle of an empty page. */
export function AccountFrame({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Remediation Risk Service`;
  }, [title]);
  return (
    <main className={css.page}>
      <div className={css.box}>
        <p className={css.product}>Remediation Risk Service</p>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}
