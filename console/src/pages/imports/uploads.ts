import { type ResultOf, randomId } from '@rrs/client';
import { useSyncExternalStore } from 'react';
import { refresh } from '../../api/client.ts';
import { uploadReport } from '../../api/upload.ts';

/** A file on its way. It stays in the list of the page until the page is left. */
export interface Upload {
  id: string;
  name: string;
  size: number;
  share: number;
  result: ResultOf<'createImport'> | null;
  error: unknown;
}

const AT_ONCE = 3;
let uploads: readonly Upload[] = [];
const waiting: (() => Promise<void>)[] = [];
let running = 0;
const listeners = new Set<() => void>();

function update(id: string, change: Partial<Upload>): void {
  uploads = uploads.map((upload) => (upload.id === id ? { ...upload, ...change } : upload));
  for (const listener of listeners) listener();
}

/** Uploads files, three at a time. Without a scope, an import only adds: it closes nothing. */
export function addUploads(files: Iterable<File>, scope: Record<string, unknown>): void {
  for (const file of files) {
    const id = randomId();
    uploads = [{ id, name: file.name, size: file.size, share: 0, result: null, error: null }, ...uploads];
    waiting.push(async () => {
      try {
        update(id, { result: await uploadReport(file, scope, (share) => update(id, { share })), share: 1 });
      } catch (error) {
        update(id, { error });
      }
      await refresh('listImports');
    });
  }
  for (const listener of listeners) listener();
  work();
}

function work(): void {
  while (running < AT_ONCE) {
    const next = waiting.shift();
    if (next === undefined) return;
    running += 1;
    void next().finally(() => {
      running -= 1;
      work();
    });
  }
}

export function useUploads(): readonly Upload[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => uploads,
  );
}
