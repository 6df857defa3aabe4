import { RrsConnectionError } from '@rrs/client';
import { useSyncExternalStore } from 'react';

/** The service asked to wait (429, 503) or did not respond. The client goes on by itself; people see until when. */
interface Retrying {
  seconds: number;
  isUnreachable: boolean;
}

let until = 0;
let retrying: Retrying | null = null;
let ticking: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

export function announceRetry(seconds: number, reason: Error): void {
  until = Math.max(until, Date.now() + seconds * 1000);
  tick(reason instanceof RrsConnectionError);
  ticking ??= setInterval(tick, 1000);
}

function tick(isUnreachable = retrying?.isUnreachable ?? false): void {
  const seconds = Math.ceil((until - Date.now()) / 1000);
  retrying = seconds > 0 ? { seconds, isUnreachable } : null;
  if (retrying === null) {
    clearInterval(ticking);
    ticking = undefined;
  }
  for (const listener of listeners) listener();
}

/** How long it takes until the next attempt, or null. */
export function useRetrying(): Retrying | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => retrying,
  );
}
