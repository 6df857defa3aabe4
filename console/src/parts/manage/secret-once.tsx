import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Copy } from '../copy.tsx';
import css from '../form.module.css';
import { Modal } from '../layers/modal.tsx';

/** A secret that the API returns once. It is in no cache, and gone when the dialog closes. */
export function SecretOnce({ title, secret, onClose, children }: { title: string; secret: string; onClose: () => void; children?: ReactNode }) {
  return (
    <Modal opened onClose={onClose} title={title} size="lg" closeOnClickOutside={false}>
      <div className={css.form}>
        <p>Copy it now. It cannot be shown again.</p>
        <p className={css.secret}>
          <Copy text={secret} shown={secret} label="Copy the secret" />
        </p>
        {children}
        <div className={css.buttons}>
          <Button onClick={onClose}>Done</Button>
        </div>
      </div>
    </Modal>
  );
}
