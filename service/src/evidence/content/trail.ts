import { chainLine, type Evidence, TRAIL_START } from '@rrs/evidence-format';
import type { TimelineEvent } from '../formats/timeline.ts';

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
}

export interface Trail {
  /** One JSON line per event. Each line contains the hash of the previous line. */
  lines: string[];
  summary: Evidence['audit_trail'];
  /** The same events in readable form. */
  timeline: TimelineEvent[];
}

export async function buildTrail(events: AsyncIterable<EventFacts>, titles: ReadonlyMap<string, string>): Promise<Trail> {
  const lines: string[] = [];
  const timeline: TimelineEvent[] = [];
  let head = TRAIL_START;
  for await (const event of events) {
    const { line, hash } = chainLine(toLine(event), lines.length + 1, head);
    head = hash;
    lines.push(`${line}\n`);
    timeline.push(toTimelineEvent(event, titles));
  }
  return { lines, timeline, summary: { file: TRAIL_FILE, events: lines.length, head } };
}

function toLine(event: EventFacts) {
  return {
    id: event.id,
    at: event.occurred_at.toISOString(),
    action: event.action,
    actor: { type: event.actor_type, id: event.actor_id, name: event.actor_name },
    object: { type: event.object_type, id: event.object_id },
    before: event.before,
    after: event.after,
    reason: event.reason,
    import_id: event.import_id,
  };
}

function toTimelineEvent(event: EventFacts, titles: ReadonlyMap<string, string>): TimelineEvent {
  return {
    at: event.occurred_at.toISOString(),
    actor: event.actor_name,
    what: describeAction(event),
    object: titles.get(event.object_id) ?? `${event.object_type.replaceAll('_', ' ')} ${event.object_id}`,
  };
}

function describeAction({ action, before, after, reason }: EventFacts): string {
  const [was, is] = [before, after].map((state) => (state as { status?: string } | null)?.status);
  const verb = action.replace(/^[a-z_]+\./, '').replaceAll('_', ' ');
  const change = was !== undefined && is !== undefined && was !== is ? `: ${was.replaceAll('_', ' ')} → ${is.replaceAll('_', ' ')}` : '';
  return `${verb}${change}${reason === null ? '' : ` (${reason})`}`;
}
