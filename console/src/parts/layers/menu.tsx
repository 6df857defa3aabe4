import { lazy, Suspense } from 'react';
import css from './menu.module.css';
import type { MenuProps } from './menu-code.tsx';

const Loaded = lazy(async () => ({ default: (await import('./menu-code.tsx')).LoadedMenu }));

/** A button that opens a menu. The code of menus comes after the page, and the button appears with it, in the place that is kept for it. */
export function Menu({ target, actions }: MenuProps) {
  return (
    <Suspense fallback={<span className={css.waiting}>{target}</span>}>
      <Loaded target={target} actions={actions} />
    </Suspense>
  );
}
