import { createRecorder, readPackage } from '@rrs/verifier';
import { nodePlatform, openFile } from '@rrs/verifier/node';
import { serveTasks } from '../../jobs/children/serve-tasks.ts';
import { comparePdf } from './compare-pdf.ts';
import { deepCheck } from './deep-check.ts';
import type { DeepInput, DeepReport } from './deep-check-file.ts';

/** Started by deep-check-file.ts: reports are untrusted input. */
serveTasks(async (input): Promise<DeepReport> => {
  const { path, version } = input as DeepInput;
  const file = await openFile(path);
  try {
    const opened = await readPackage(file, nodePlatform(), createRecorder());
    if (opened === null) throw new Error('the package cannot be opened');
    return { findings: await deepCheck(opened), pdf: await comparePdf(opened, version) };
  } finally {
    await file.close();
  }
});
