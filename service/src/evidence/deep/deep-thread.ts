import { createRecorder, readPackage } from '@rrs/verifier';
import { nodePlatform, openFile } from '@rrs/verifier/node';
import { serveThread } from '../../jobs/serve-thread.ts';
import { deepCheck } from './deep-check.ts';

/** Started by deep-check-file.ts: reports are untrusted input. */
await serveThread(async (path) => {
  const file = await openFile(String(path));
  try {
    const opened = await readPackage(file, nodePlatform(), createRecorder());
    if (opened === null) throw new Error('the package cannot be opened');
    return await deepCheck(opened);
  } finally {
    await file.close();
  }
});
