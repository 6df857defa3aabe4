import { chainLine, type Evidence, TRAIL_START } from '@rrs/evidence-format';
import type { TimelineEvent } from './formats/timeline.ts';
import type { EventFacts } from './snapshot.ts';

export const TRAIL_FILE = 'data/audit-trail.jsonl';

/** Every event as a line that names the hash of the one before. */
export function auditTrail(events: readonly EventFacts[]): { lines: string[]; summary: Evidence['audit_trail'] } {
  let head = TRAIL_START;
  const lines = events.map((event, index) => {
    const { line, hash } = chainLine(lineOf(event), index + 1, head);
    head = hash;
    return `${line}\n`;
  });
  return { lines, summary: { file: TRAIL_FILE, events: lines.length, head } };
}

function lineOf(event: EventFacts) {
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

/** The same for people. */
export function timelineOf(events: readonly EventFacts[], titles: ReadonlyMap<string, string>): TimelineEvent[] {
  return events.map((event) => ({
    at: event.occurred_at.toISOString(),
    actor: event.actor_name,
    what: whatOf(event),
    object: titles.get(event.object_id) ?? `${event.object_type.replaceAll('_', ' ')} ${event.object_id}`,
  }));
}

function whatOf({ action, before, after, reason }: EventFacts): string {
  const [was, is] = [before, after].map((state) => (state as { status?: string } | null)?.status);
  const verb = action.replace(/^[a-z_]+\./, '').replaceAll('_', ' ');
  const change = was !== undefined && is !== undefined && was !== is ? `: ${was.replaceAll('_', ' ')} → ${is.replaceAll('_', ' ')}` : '';
  return `${verb}${change}${reason === null ? '' : ` (${reason})`}`;
}
