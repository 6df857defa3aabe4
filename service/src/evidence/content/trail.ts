import { chainLine, type Evidence, TRAIL_START, type TrailEvent } from '@rrs/evidence-format';

export const TRAIL_FILE = 'data/audit-trail.jsonl';

export interface EventFacts {
  id: string;
  occurred_at: Date;
  actor_type: string;
  actor_id: string | null;
  actor_name: string;
  action: string;
  object_type: string;
  object_id: string;
  before: unknown;
  after: unknown;
  reason: string | null;
  import_id: string | null;
  person: string | null;
  request_id: string | null;
}

export interface Trail {
  /** One JSON line per event, in pieces of many lines. Each line contains the hash of the previous line. */
  pieces: Uint8Array[];
  events: TrailEvent[];
  summary: Evidence['audit_trail'];
}

const PIECE_LENGTH = 64 * 1024;

/** There can be hundreds of thousands of events. Bytes are kept outside the heap, which is limited. */
export async function buildTrail(events: AsyncIterable<EventFacts>): Promise<Trail> {
  const pieces: Uint8Array[] = [];
  const written: TrailEvent[] = [];
  let [head, piece] = [TRAIL_START, ''];
  for await (const event of events) {
    const entry = toLine(event);
    const { line, hash } = chainLine({ ...entry }, written.length + 1, head);
    written.push(entry);
    head = hash;
    piece += `${line}\n`;
    if (piece.length < PIECE_LENGTH) continue;
    pieces.push(Buffer.from(piece));
    piece = '';
  }
  if (piece !== '') pieces.push(Buffer.from(piece));
  return { pieces, events: written, summary: { file: TRAIL_FILE, events: written.length, head } };
}

function toLine(event: EventFacts): TrailEvent {
  return {
    id: event.id,
    at: event.occurred_at.toISOString(),
    action: event.action,
    actor: { type: event.actor_type, id: event.actor_id, name: event.actor_name, person: event.person },
    object: { type: event.object_type, id: event.object_id },
    before: event.before,
    after: event.after,
    reason: event.reason,
    import_id: event.import_id,
    request_id: event.request_id,
  };
}
