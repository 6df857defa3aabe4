import { lazy, type ReactElement, type ReactNode, Suspense } from 'react';
import css from './menu.module.css';

/** What a menu offers: something to do, or a file to download. */
export interface Action {
  label: string;
  onChoose?: () => void;
  /** The address of the file. */
  download?: string;
  hint?: ReactNode;
  isDangerous?: boolean;
  isDisabled?: boolean;
}

export interface MenuProps {
  /** The button that opens it. */
  target: ReactElement;
  actions: readonly Action[];
}

const Loaded = lazy(async () => ({ default: (await import('./menu-code.tsx')).LoadedMenu }));

/** A button that opens a menu. The code of menus comes after the page, and the button appears with it, in the place that is kept for it. */
export function Menu({ target, actions }: MenuProps) {
  return (
    <Suspense fallback={<span className={css.waiting}>{target}</span>}>
      <Loaded target={target} actions={actions} />
    </Suspense>
  );
}
