/** Every event type, by the kind of object that it is about. */
const eventNames = {
  alias: ['added', 'revoked', 'restored'],
  api_key: ['created', 'updated', 'revoked'],
  artifact: ['added', 'superseded', 'removed', 'downloaded'],
  asset: ['created', 'updated', 'reactivated', 'track_renamed', 'track_ended', 'track_merged', 'track_unmerged', 'merged', 'unmerged'],
  connection: ['created', 'updated', 'deleted'],
  finding: [
    'created',
    'status_changed',
    'severity_changed',
    'updated',
    'acceptance_requested',
    'acceptance_approved',
    'acceptance_rejected',
    'merged',
    'split',
    'commented',
    'comment_withdrawn',
  ],
  import: ['created', 'succeeded', 'needs_confirmation', 'confirmed', 'discarded', 'failed', 'file_deleted'],
  member: ['added', 'invited', 'updated', 'removed', 'subject_unlinked'],
  organization: ['created', 'updated'],
  package: ['requested', 'ready', 'failed', 'superseded', 'viewed', 'downloaded', 'verified', 'shared', 'share_revoked'],
  pipeline_trust: ['created', 'updated', 'deleted'],
  session: ['created', 'ended'],
  source: ['retired', 'reactivated'],
  sync: ['started', 'succeeded', 'partial', 'failed', 'cancelled', 'needs_confirmation', 'confirmed', 'discarded'],
  ticket: ['pushed', 'linked', 'updated', 'drifted', 'paused', 'failed', 'gone', 'unlinked'],
  view: ['created', 'updated', 'deleted'],
  webhook: ['created', 'updated', 'secret_rotated', 'disabled', 'deleted'],
  work_item: ['created', 'updated', 'status_changed', 'findings_linked', 'finding_unlinked', 'approved', 'rejected', 'commented', 'comment_withdrawn'],
} as const;

type EventNames = typeof eventNames;
export type EventType = { [Kind in keyof EventNames]: `${Kind}.${EventNames[Kind][number]}` }[keyof EventNames];

export const eventTypes = Object.entries(eventNames).flatMap(([kind, names]) => names.map((name) => `${kind}.${name}`)) as EventType[];

/** The patterns that select events: all events, all events about one kind of object, or one type. */
export const eventPatterns: readonly string[] = ['*', ...Object.keys(eventNames).map((kind) => `${kind}.*`), ...eventTypes];
