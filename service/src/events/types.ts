/** Everything that can be told, by what it is about. */
const told = {
  api_key: ['created', 'updated', 'revoked'],
  artifact: ['added', 'superseded', 'removed', 'downloaded'],
  asset: ['updated'],
  connection: ['created', 'updated', 'deleted'],
  finding: ['created', 'status_changed', 'severity_changed', 'updated'],
  import: ['created', 'succeeded', 'needs_confirmation', 'confirmed', 'discarded', 'failed'],
  member: ['added', 'updated', 'removed'],
  organization: ['created', 'updated'],
  package: ['requested', 'ready', 'failed', 'superseded', 'viewed', 'downloaded', 'verified', 'shared', 'share_revoked'],
  session: ['created', 'ended'],
  sync: ['succeeded', 'partial', 'failed', 'cancelled', 'needs_confirmation', 'confirmed', 'discarded'],
  ticket: ['pushed', 'linked', 'updated', 'drifted', 'paused', 'failed', 'gone', 'unlinked'],
  webhook: ['created', 'updated', 'secret_rotated', 'disabled', 'deleted'],
  work_item: ['created', 'updated', 'status_changed', 'findings_linked', 'finding_unlinked', 'approved', 'rejected'],
} as const;

type Told = typeof told;
export type EventType = { [About in keyof Told]: `${About}.${Told[About][number]}` }[keyof Told];

export const eventTypes = Object.entries(told).flatMap(([about, names]) => names.map((name) => `${about}.${name}`)) as EventType[];

/** What can be asked for: all events, all that are about one kind of thing, or one by its name. */
export const eventPatterns: readonly string[] = ['*', ...Object.keys(told).map((about) => `${about}.*`), ...eventTypes];
