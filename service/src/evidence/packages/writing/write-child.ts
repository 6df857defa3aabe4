import type { BlobRef } from '../../../blobs/blobs.ts';
import { ownDatabase } from '../../../jobs/children/own-database.ts';
import { serveTasks } from '../../../jobs/children/serve-tasks.ts';
import type { DatabaseTask, WritingQuestion } from './write-in-child.ts';
import { type WritingHost, writePackage } from './write-package.ts';

let files = 0;

/** Started by write-in-child.ts. */
serveTasks((input, send) => {
  const { databaseUrl, write } = input as DatabaseTask;
  const db = ownDatabase(databaseUrl);
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
  return writePackage(db, write, host);
});
