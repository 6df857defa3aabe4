import css from './changes-bar.module.css';

/** Rows never move by themselves. This says that there is something new, and shows it on request. */
export function ChangesBar({ count, what, onShow }: { count: number; what: string; onShow: () => void }) {
  if (count === 0) return null;
  return (
    <button type="button" className={css.changes} onClick={onShow}>
      {what} changed since this list was read. Show them <kbd>.</kbd>
    </button>
  );
}
