import type { CloudEvent } from '../cloud-event.ts';
import { BATCH_SIZE, type EventPosition, type PositionedEvent, type Subscription } from './event-stream.ts';

const HEARTBEAT_MS = 15_000;
const RECONNECT_MS = 3_000;

interface StreamOptions {
  subscription: Subscription;
  after: EventPosition;
  /** The stream ends after this many seconds. */
  seconds: number;
  isWanted: (type: string) => boolean;
  /** Checked with every heartbeat, because a stream can outlive its credential. */
  isStillAllowed: () => Promise<boolean>;
  toCloudEvent: (event: PositionedEvent) => CloudEvent;
  heartbeatMs?: number;
}

/** Yields server-sent events (HTML standard, section 9.2). A batch is read only when the client has consumed the one before. */
export async function* serverSentEvents(options: StreamOptions): AsyncGenerator<string> {
  const { subscription, after, seconds, isWanted, isStillAllowed, toCloudEvent, heartbeatMs = HEARTBEAT_MS } = options;
  const end = performance.now() + seconds * 1000;
  let nextHeartbeat = performance.now() + heartbeatMs;
  let position = after;
  try {
    yield `retry: ${RECONNECT_MS}\n\n`;
    while (!subscription.isClosed()) {
      const events = await subscription.read(position);
      position = events.at(-1)?.position ?? position;
      const frames = events.filter(({ type }) => isWanted(type)).map((event) => frame(event.id, toCloudEvent(event)));
      if (frames.length > 0) yield frames.join('');
      if (performance.now() >= nextHeartbeat) {
        if (!(await isStillAllowed())) return;
        yield ': heartbeat\n\n';
        nextHeartbeat = performance.now() + heartbeatMs;
      }
      if (events.length === BATCH_SIZE) continue;
      if (performance.now() >= end) return;
      await subscription.waitForEvents(position, Math.max(1, Math.min(nextHeartbeat, end) - performance.now()));
    }
  } finally {
    subscription.close();
  }
}

function frame(id: string, event: CloudEvent): string {
  return `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;
}
