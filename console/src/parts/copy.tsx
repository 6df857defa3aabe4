import { CheckIcon, CopyIcon } from '@primer/octicons-react';
import { useState } from 'react';
import css from './copy.module.css';
import { announce } from './toast.tsx';

/** An id or hash, shortened, with a button that copies all of it. */
export function Copy({ text, shown, label = 'Copy' }: { text: string; shown?: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <span className={css.copy}>
      <code title={text}>{shown ?? (text.length > 20 ? `${text.slice(0, 8)}…` : text)}</code>
      <button
        type="button"
        aria-label={`${label} ${text}`}
        onClick={() => {
          void copy(text).then((done) => setCopied(done));
        }}
        onBlur={() => setCopied(false)}
      >
        {isCopied ? <CheckIcon size={12} /> : <CopyIcon size={12} />}
      </button>
    </span>
  );
}

/** Browsers refuse access to the clipboard on pages without https. */
export async function copy(text: string): Promise<boolean> {
  const done = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  announce(done ? 'Copied.' : 'The browser did not allow copying. Select the text and copy it.');
  return done ?? false;
}
