import { formats, type ReportFormat } from '@rrs/scan-reports';
import { openFileStore } from '../../../blobs/file-store.ts';
import { serveTasks } from '../../../jobs/children/serve-tasks.ts';
import { storedFile } from './open-report.ts';
import type { ChildReadTask, HostQuestion } from './read-in-child.ts';
import { type ReadingHost, readerOf } from './read-report.ts';

/** Started by read-in-child.ts: reports are untrusted input. */
serveTasks(async (given, ask) => {
  const task = given as ChildReadTask;
  const known: { formats: readonly ReportFormat[] } = task.formats === null ? { formats } : await import(task.formats);
  const reader = readerOf(known.formats);
  const call = (question: HostQuestion) => ask(question) as Promise<never>;
  const host: ReadingHost = {
    open: (...given) => call({ call: 'open', given }),
    next: (...given) => call({ call: 'next', given }),
    close: (...given) => call({ call: 'close', given }),
    begin: (...given) => call({ call: 'begin', given }),
    stageKnown: (...given) => call({ call: 'stageKnown', given }),
    copy: (...given) => call({ call: 'copy', given }),
    progress: (...given) => call({ call: 'progress', given }),
  };
  const signal = new AbortController().signal;
  if (!('read' in task)) return reader.names(task.names, host, signal);
  const { folder, sha256 } = task.read.stored;
  if (folder === null) return reader.read(task.read, host, signal);
  const file = storedFile(openFileStore(folder), sha256);
  return reader.read(task.read, { ...host, ...file }, signal).finally(file.closeAll);
});
