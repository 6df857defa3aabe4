import { Button } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useRef } from 'react';
import { useCommands } from '../keys/keys.ts';
import css from './form.module.css';
import { Modal } from './layers/modal.tsx';
import { messageOf } from './states.tsx';

interface DialogProps {
  title: string;
  onClose: () => void;
  /** The button that does it: a verb and its object. */
  action: string;
  onSubmit: (data: FormData) => void;
  isBusy?: boolean;
  error?: unknown;
  isDangerous?: boolean;
  isDisabled?: boolean;
  size?: string;
  /** Nothing is left to fill in: the button gets the focus. */
  isConfirmation?: boolean;
  children?: ReactNode;
}

/** A question with an answer: a form in a dialog. Enter submits, also from a field with several lines with Ctrl, and Escape closes. */
export function Dialog({
  title,
  onClose,
  action,
  onSubmit,
  isBusy = false,
  error,
  isDangerous = false,
  isDisabled = false,
  size = 'md',
  isConfirmation = false,
  children,
}: DialogProps) {
  const form = useRef<HTMLFormElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useCommands({ submit: () => form.current?.requestSubmit(button.current) });
  useEffect(() => {
    if (isConfirmation) button.current?.focus();
  }, [isConfirmation]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <Modal opened onClose={onClose} title={title} size={size}>
      <form ref={form} className={css.form} onSubmit={submit}>
        {children}
        {error ? (
          <p className="bad" role="alert">
            {messageOf(error)}
          </p>
        ) : null}
        <div className={css.buttons}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            ref={button}
            type="submit"
            data-autofocus={isConfirmation || undefined}
            loading={isBusy}
            disabled={isDisabled}
            {...(isDangerous ? { color: 'red' } : {})}
          >
            {action}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** A text of a form, or undefined if it was left empty. */
export function field(data: FormData, name: string): string | undefined {
  const value = String(data.get(name) ?? '').trim();
  return value === '' ? undefined : value;
}
