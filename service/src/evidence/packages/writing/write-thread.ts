import { workerData } from 'node:worker_threads';
import type { BlobRef } from '../../../blobs/blobs.ts';
import { openDatabase } from '../../../db/database.ts';
import { serveTasks } from '../../../jobs/serve-thread.ts';
import type { WritingQuestion } from './write-in-thread.ts';
import { type WriteTask, type WritingHost, writePackage } from './write-package.ts';

/** Started by write-in-thread.ts. It has a connection of its own, so that rows are read and parsed here. */
const db = openDatabase({ url: String(workerData), poolSize: 1 });
let files = 0;

serveTasks((task, send) => {
  const ask = (question: WritingQuestion): Promise<unknown> => send(question);
  const host: WritingHost = {
    async put(content) {
      const id = ++files;
      await ask({ open: id });
      for await (const bytes of content as AsyncIterable<Uint8Array>) await ask({ write: id, bytes });
      return (await ask({ end: id })) as BlobRef;
    },
    isStored: async (sha256) => (await ask({ isStored: sha256 })) === true,
    onStep: async (step) => void (await ask({ step })),
  };
  return writePackage(db, task as WriteTask, host);
});
