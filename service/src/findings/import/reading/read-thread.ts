import { formats, type ReportFormat } from '@rrs/scan-reports';
import { serveTasks } from '../../../jobs/serve-thread.ts';
import type { HostQuestion, ThreadReadTask } from './read-in-thread.ts';
import { type ReadingHost, readerOf } from './read-report.ts';

/** Started by read-in-thread.ts: reports are untrusted input. */
serveTasks(async (given, ask) => {
  const task = given as ThreadReadTask;
  const known: { formats: readonly ReportFormat[] } = task.formats === null ? { formats } : await import(task.formats);
  const reader = readerOf(known.formats);
  const call = (question: HostQuestion, moved: ArrayBufferLike[] = []) => ask(question, moved as ArrayBuffer[]) as Promise<never>;
  const host: ReadingHost = {
    open: (...given) => call({ call: 'open', given }),
    next: (...given) => call({ call: 'next', given }),
    close: (...given) => call({ call: 'close', given }),
    begin: (...given) => call({ call: 'begin', given }),
    findKnown: (...given) => call({ call: 'findKnown', given }),
    copy: (...given) => call({ call: 'copy', given }),
    progress: (...given) => call({ call: 'progress', given }),
  };
  const signal = new AbortController().signal;
  return 'read' in task ? reader.read(task.read, host, signal) : reader.names(task.names, host, signal);
});
