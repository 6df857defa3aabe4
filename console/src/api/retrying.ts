import { useSyncExternalStore } from 'react';

/** The service asked to wait (429, 503) or did not respond. The client goes on by itself; people see until when. */
let until = 0;
const listeners = new Set<() => void>();
const notify = (): void => {
  for (const listener of listeners) listener();
};

export function announceRetry(seconds: number): void {
  until = Date.now() + seconds * 1000;
  notify();
  setTimeout(notify, seconds * 1000 + 50);
}

/** Seconds until the next attempt, or null. */
export function useRetrying(): number | null {
  const value = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => (until > Date.now() ? until : 0),
  );
  return value === 0 ? null : Math.ceil((value - Date.now()) / 1000);
}
