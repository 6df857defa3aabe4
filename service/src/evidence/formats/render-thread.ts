import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../shared/errors.ts';
import { type Answer, evidenceFormats, type Question, type Rendered } from './formats.ts';

/** Large documents are made here, beside the thread that answers requests. One piece is on its way at a time. */
const port = parentPort;
if (!port) throw new Error('this runs in a thread of its own');
const { reported, context } = workerData as Rendered;
const say = (answer: Answer): void => port.postMessage(answer);

let pieces: AsyncIterator<Uint8Array> | null = null;
port.on('message', async (question: Question) => {
  try {
    if (question.begin) {
      const format = evidenceFormats.find((one) => one.format === question.begin);
      if (!format) throw new Error(`there is no format ${question.begin}`);
      pieces = format.render({ ...reported, files: question.files ?? [] }, context)[Symbol.asyncIterator]();
    }
    const next = await pieces?.next();
    say(next && !next.done ? { piece: next.value } : { end: true });
  } catch (error) {
    say({ error: messageOf(error) });
  }
});
