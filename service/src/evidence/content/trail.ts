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
  /** One JSON line per event. Each line contains the hash of the previous line. */
  lines: string[];
  events: TrailEvent[];
  summary: Evidence['audit_trail'];
}

export async function buildTrail(events: AsyncIterable<EventFacts>): Promise<Trail> {
  const lines: string[] = [];
  const written: TrailEvent[] = [];
  let head = TRAIL_START;
  for await (const event of events) {
    const entry = toLine(event);
    const { line, hash } = chainLine({ ...entry }, lines.length + 1, head);
    written.push(entry);
    head = hash;
    lines.push(`${line}\n`);
  }
  return { lines, events: written, summary: { file: TRAIL_FILE, events: lines.length, head } };
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
