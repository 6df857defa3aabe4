import type { EventPattern } from './api.ts';
import { RrsConnectionError, RrsError } from './errors.ts';
import { type ClientOptions, once, pause, urlOf } from './request.ts';

/** An event as a CloudEvents 1.0 document. */
export interface RrsEvent {
  id: string;
  type: string;
  source: string;
  subject?: string;
  time: string;
  data: unknown;
}

export interface EventsOptions {
  types?: EventPattern[];
  /** Continues after this event. */
  lastEventId?: string;
  signal?: AbortSignal;
}

const MOST_SECONDS_BETWEEN_CONNECTIONS = 30;

/** Events as they happen. After a lost connection the stream continues where it ended, so that no event is missed. */
export async function* events(options: ClientOptions, { types, lastEventId, signal }: EventsOptions = {}): AsyncGenerator<RrsEvent, void, undefined> {
  const url = urlOf(options.url, 'streamEvents', { query: { types: types?.join(',') } });
  let last = lastEventId;
  for (let failures = 0; !signal?.aborted; ) {
    try {
      const headers = { accept: 'text/event-stream', ...(last === undefined ? {} : { 'last-event-id': last }) };
      const { body } = await once(options, url, { headers, ...(signal ? { signal } : {}) });
      for await (const { id, data } of messages(body)) {
        last = id || last;
        failures = 0;
        yield JSON.parse(data) as RrsEvent;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof RrsError && error.status < 500 && error.status !== 429) throw error;
      if (!(error instanceof RrsError || error instanceof RrsConnectionError || error instanceof TypeError)) throw error;
      failures++;
    }
    if (signal?.aborted) return;
    const seconds = Math.min(MOST_SECONDS_BETWEEN_CONNECTIONS, 0.5 * 2 ** failures * (0.5 + Math.random()));
    await pause(seconds, signal).catch(() => {});
  }
}

/** The messages of an event stream (HTML Standard, "Server-sent events"). */
async function* messages(body: ReadableStream<Uint8Array> | null): AsyncGenerator<{ id: string; data: string }, void, undefined> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let message = { id: '', data: [] as string[] };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?=[^\n])/);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line === '') {
          if (message.data.length > 0) yield { id: message.id, data: message.data.join('\n') };
          message = { id: message.id, data: [] };
        } else if (line.startsWith('data:')) message.data.push(line.slice(line[5] === ' ' ? 6 : 5));
        else if (line.startsWith('id:')) message.id = line.slice(3).trim();
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
