import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { BlobRef } from '../../../blobs/blobs.ts';
import type { ChildLimits } from '../../../jobs/children/child.ts';
import { type ChildPool, openChildPool } from '../../../jobs/children/child-pool.ts';
import { createSlots } from '../../../jobs/slots.ts';
import type { PackageWriter, WriteTask, WritingHost, Written } from './write-package.ts';

export interface DatabaseTask {
  databaseUrl: string;
  write: WriteTask;
}

/** What the child asks the process that has the blob store. A file is opened, written piece by piece, and ended. */
export type WritingQuestion =
  | { step: Parameters<WritingHost['onStep']>[0] }
  | { isStored: string }
  | { open: number }
  | { write: number; bytes: Uint8Array }
  | { end: number };

const LIMITS: ChildLimits = { heapMb: 1024, timeMs: 30 * 60_000 };
const IDLE_MS = 30_000;

/** Writes packages in a child process with a connection of its own: deriving and rendering 10,000 findings takes many seconds. */
export function openPackageWriter(databaseUrl: string): { write: PackageWriter; close(): Promise<void> } {
  const slots = createSlots({ running: 1, waiting: Number.POSITIVE_INFINITY, refusal: '' });
  const pool: ChildPool = openChildPool({
    module: new URL('./write-child.ts', import.meta.url),
    limits: LIMITS,
    slots,
    idleMs: IDLE_MS,
  });
  return {
    write: async (_db, task, host) => {
      const files = receivedFiles(host.put);
      const answer = async (question: WritingQuestion): Promise<unknown> => {
        if ('step' in question) return host.onStep(question.step);
        if ('isStored' in question) return host.isStored(question.isStored);
        if ('open' in question) return files.open(question.open);
        return 'end' in question ? files.end(question.end) : files.write(question.write, question.bytes);
      };
      try {
        return (await pool.run({ databaseUrl, write: task } satisfies DatabaseTask, { answer })) as Written;
      } finally {
        await files.abandon();
      }
    },
    close: () => pool.close(),
  };
}

interface Receiving {
  stream: PassThrough;
  stored: Promise<BlobRef>;
}

/** Files that arrive piece by piece. */
function receivedFiles(put: WritingHost['put']) {
  const files = new Map<number, Receiving>();
  const fileOf = (id: number): Receiving => {
    const file = files.get(id);
    if (!file) throw new Error(`no file ${id} is open`);
    return file;
  };
  return {
    open(id: number): void {
      const stream = new PassThrough();
      stream.on('error', () => {});
      const stored = put(stream);
      // The rejection is handled where the promise is awaited.
      stored.catch(() => {});
      files.set(id, { stream, stored });
    },
    async write(id: number, bytes: Uint8Array): Promise<void> {
      const { stream, stored } = fileOf(id);
      // A store that fails, for example because the disk is full, reads no further.
      if (!stream.write(bytes)) await Promise.race([once(stream, 'drain'), stored]);
    },
    end(id: number): Promise<BlobRef> {
      const { stream, stored } = fileOf(id);
      files.delete(id);
      stream.end();
      return stored;
    },
    /** What was not ended is not stored. */
    async abandon(): Promise<void> {
      for (const { stream, stored } of files.values()) {
        stream.destroy(new Error('the file was not written to its end'));
        await stored.catch(() => {});
      }
    },
  };
}
