import { AsyncLocalStorage } from 'node:async_hooks';

const scope = new AsyncLocalStorage<boolean>();

export const isInsideTransaction = (): boolean => scope.getStore() === true;

export function asTransaction<T>(work: () => Promise<T>): Promise<T> {
  return scope.run(true, work);
}

/** For the rare work that must hold a lock of the database while it waits for something else. Say why where you call it. */
export function allowedInTransaction<T>(work: () => Promise<T>): Promise<T> {
  return scope.run(false, work);
}

/** A transaction that waits for another system keeps its connection and its locks while it waits, and one slow server then stops everybody. */
export function assertOutsideTransaction(what: string): void {
  if (isInsideTransaction()) throw new Error(`${what} inside a transaction: do it before or after`);
}
