import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Evidence, PackageFormat } from '@rrs/evidence-format';
import { type Answer, type EvidenceFormat, type Question, type Rendered, renderedBy } from './formats.ts';

/** From so many findings on, making a document takes long enough for others to notice. */
const MANY = 1_500;

export type Render = (format: EvidenceFormat, files?: Evidence['files']) => AsyncIterable<Uint8Array>;

/** Gives `work` the means to render: here, or for large packages in a thread that ends with it. */
export async function withRenderer<T>(rendered: Rendered, work: (render: Render) => Promise<T>): Promise<T> {
  if (rendered.reported.findings.length < MANY) return work(renderedBy(rendered));
  const { reported, context } = rendered;
  const thread = new Worker(new URL('./render-thread.ts', import.meta.url), { workerData: { reported, context } satisfies Rendered });
  try {
    return await work(({ format }, files) => piecesOf(thread, format, files));
  } finally {
    await thread.terminate();
  }
}

async function* piecesOf(thread: Worker, format: PackageFormat, files: Evidence['files'] | undefined): AsyncGenerator<Uint8Array> {
  const ask = async (question: Question): Promise<Answer> => {
    thread.postMessage(question);
    // An error of the thread itself rejects this.
    const [answer] = (await once(thread, 'message')) as [Answer];
    return answer;
  };
  for (let answer = await ask({ begin: format, ...(files ? { files } : {}) }); ; answer = await ask({})) {
    if ('error' in answer) throw new Error(`the format ${format} could not be rendered: ${answer.error}`);
    if ('end' in answer) return;
    yield answer.piece;
  }
}
