import { assertOutsideTransaction } from '../db/transaction-scope.ts';
import type { BlobStore } from './blobs.ts';

/** Refuses to read and write inside a transaction of the database, which would wait for a disk or for another server. */
export function outsideTransactions(store: BlobStore): BlobStore {
  const guarded = <Args extends unknown[], Result>(use: (...args: Args) => Result) => {
    return (...args: Args): Result => {
      assertOutsideTransaction('access to the object store');
      return use(...args);
    };
  };
  return {
    folder: store.folder,
    put: guarded(store.put),
    get: guarded(store.get),
    getRange: guarded(store.getRange),
    pieces: guarded(store.pieces),
    stat: guarded(store.stat),
    delete: guarded(store.delete),
    list: guarded(store.list),
    check: guarded(store.check),
  };
}
