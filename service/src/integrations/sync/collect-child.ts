import { ConnectorError, connectors, type Sender } from '@rrs/connectors';
import { serveTasks } from '../../jobs/children/serve-tasks.ts';
import { check, collect } from './collect.ts';
import type { ChildCollectResult, ChildCollectTask, Chunk, Failed, HostQuestion, Opened, RemoteHost } from './collect-in-child.ts';

/** Started by collect-in-child.ts: the responses of vendors are untrusted input. */
serveTasks(async (given, ask, signal): Promise<ChildCollectResult> => {
  const task = given as ChildCollectTask;
  const connector = connectors.find(({ id }) => id === task.provider);
  if (!connector) throw new Error(`there is no connector "${task.provider}"`);
  const call = <Call extends keyof RemoteHost>(call: Call, ...given: Parameters<RemoteHost[Call]>) =>
    ask({ call, given } as HostQuestion) as ReturnType<RemoteHost[Call]>;
  const sender: Sender = {
    async open({ url, signal: _, ...request }) {
      const { id, ...response } = taken<Opened>(await call('open', { ...request, url: url.href }));
      return { ...response, body: bodyOf(id) };
    },
  };
  async function* bodyOf(id: number): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const { bytes } = taken<Chunk>(await call('next', id));
        if (bytes === null) return;
        yield bytes;
      }
    } finally {
      await call('close', id);
    }
  }
  const http = {
    sender,
    wait: (ms: number) => call('wait', ms),
    onRequest: (record: Parameters<RemoteHost['onRequest']>[0]): void => void call('onRequest', record),
  };
  try {
    if ('check' in task) {
      await check(connector, task.check, http, signal);
      return { done: null };
    }
    const host = {
      ...http,
      wanted: (after: string | null) => call('wanted', after),
      learn: (items: Parameters<RemoteHost['learn']>[0]) => call('learn', items),
      unlistOthers: (version: string) => call('unlistOthers', version),
      store: (batch: Parameters<RemoteHost['store']>[0]) => call('store', batch),
    };
    return { done: await collect(connector, task.collect, host, signal) };
  } catch (error) {
    if (error instanceof ConnectorError) return { fault: { kind: error.kind, message: error.message, status: error.status } };
    throw error;
  }
});

function taken<T extends object>(answer: T | Failed): Exclude<T, Failed> {
  if (!isFailed(answer)) return answer as Exclude<T, Failed>;
  const { error, kind } = answer;
  throw Object.assign(new Error(error), kind === null ? {} : { kind });
}

function isFailed(answer: object): answer is Failed {
  return 'error' in answer;
}
