import { Button, CloseButton } from '@mantine/core';
import { useEffect, useSyncExternalStore } from 'react';
import css from './toast.module.css';

interface Message {
  id: number;
  text: string;
  isBad: boolean;
  action?: { label: string; run: () => void } | undefined;
}

let messages: readonly Message[] = [];
let last = 0;
const listeners = new Set<() => void>();

function set(next: readonly Message[]): void {
  messages = next;
  for (const listener of listeners) listener();
}

/** Says in the corner, and to screen readers, what happened. Failures stay until they are closed. */
export function announce(text: string, options: { isBad?: boolean; action?: Message['action'] } = {}): void {
  last += 1;
  set([...messages.slice(-2), { id: last, text, isBad: options.isBad ?? false, action: options.action }]);
}

const close = (id: number): void => set(messages.filter((message) => message.id !== id));

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => messages,
  );
  return (
    <div className={css.toasts} role="status" aria-live="polite">
      {shown.map((message) => (
        <Toast key={message.id} message={message} />
      ))}
    </div>
  );
}

function Toast({ message: { id, text, isBad, action } }: { message: Message }) {
  useEffect(() => {
    if (isBad) return;
    const timer = setTimeout(() => close(id), action ? 10_000 : 5_000);
    return () => clearTimeout(timer);
  }, [id, isBad, action]);
  return (
    <div className={css.toast} data-bad={isBad || undefined}>
      <span>{text}</span>
      {action && (
        <Button
          variant="subtle"
          onClick={() => {
            action.run();
            close(id);
          }}
        >
          {action.label}
        </Button>
      )}
      <CloseButton size="sm" aria-label="Close the message" onClick={() => close(id)} />
    </div>
  );
}
