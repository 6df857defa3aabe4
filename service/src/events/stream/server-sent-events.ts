import type { CloudEvent } from '../cloud-event.ts';
import { EVENTS_AT_ONCE, type Place, type PlacedEvent, type Seat } from './event-stream.ts';

const HEARTBEAT_MS = 15_000;
const RECONNECT_MS = 3_000;

export interface Reading {
  seat: Seat;
  after: Place;
  /** Seconds, for those who do not want to stay. */
  seconds: number;
  isWanted: (type: string) => boolean;
  /** Asked again and again: a stream outlives many requests. */
  isStillAllowed: () => Promise<boolean>;
  toCloudEvent: (event: PlacedEvent) => CloudEvent;
  heartbeatMs?: number;
}

/** Server-sent events (the HTML standard, section 9.2), written as fast as they are read. */
export async function* streamEvents(reading: Reading): AsyncGenerator<string> {
  const { seat, after, seconds, isWanted, isStillAllowed, toCloudEvent, heartbeatMs = HEARTBEAT_MS } = reading;
  const end = performance.now() + seconds * 1000;
  let beat = performance.now() + heartbeatMs;
  let place = after;
  try {
    yield `retry: ${RECONNECT_MS}\n\n`;
    while (!seat.isOver()) {
      const events = await seat.read(place);
      place = events.at(-1)?.place ?? place;
      const text = events.filter(({ type }) => isWanted(type)).map((event) => frame(event.id, toCloudEvent(event)));
      if (text.length > 0) yield text.join('');
      if (performance.now() >= beat) {
        if (!(await isStillAllowed())) return;
        yield ': still here\n\n';
        beat = performance.now() + heartbeatMs;
      }
      if (events.length === EVENTS_AT_ONCE) continue;
      if (performance.now() >= end) return;
      await seat.news(place, Math.max(1, Math.min(beat, end) - performance.now()));
    }
  } finally {
    seat.leave();
  }
}

function frame(id: string, event: CloudEvent): string {
  return `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;
}
