import type { TrailEvent } from '../document/decisions.ts';
import { anyText, anything, field, name, nullable, type Of, object, sha256Text, time, whole } from '../json/typed-schema.ts';

/** A line of data/audit-trail.jsonl. */
export interface ChainedEvent extends TrailEvent {
  seq: number;
  prev: string;
}

export const trailEventSchema: Of<ChainedEvent> = object<ChainedEvent>({
  seq: field('Number of the line, starting at 1.', whole(1)),
  prev: field('SHA-256 of the previous line in hexadecimal, or 64 zeros.', sha256Text),
  id: field('ID of the event.', name),
  at: field('When it happened.', time),
  action: field('What happened.', name),
  actor: field(
    'Who or what acted.',
    object<TrailEvent['actor']>({
      type: field('Kind of actor.', name),
      id: field('ID of the credential, or null.', nullable(anyText)),
      name: field('Name of the credential.', anyText),
      person: field('The human behind the credential, or null.', nullable(anyText)),
    }),
  ),
  object: field('What was acted on.', object<TrailEvent['object']>({ type: field('Kind of object.', name), id: field('ID of the object.', anyText) })),
  before: field('Changed values before.', anything),
  after: field('Changed values after.', anything),
  reason: field('Reason that was given, or null.', nullable(anyText)),
  import_id: field('Import that caused it, or null.', nullable(anyText)),
  request_id: field('Request that caused it, or null.', nullable(anyText)),
});
