/**
 * Every audited action, by the kind of object that its name begins with.
 * Every event type is among them, because most changes have the same name in the audit trail and in the event.
 */
interface Actions {
  alias: 'added' | 'revoked' | 'restored';
  api_key: 'created' | 'updated' | 'revoked';
  artifact: 'added' | 'superseded' | 'removed' | 'downloaded' | 'not_captured';
  asset: 'created' | 'updated' | 'reactivated' | 'track_renamed' | 'track_ended' | 'track_merged' | 'track_unmerged' | 'merged' | 'unmerged';
  connection: 'created' | 'updated' | 'deleted';
  finding:
    | 'created'
    | 'status_changed'
    | 'severity_changed'
    | 'updated'
    | 'bulk_changed'
    | 'acceptances_expired'
    | 'acceptance_requested'
    | 'acceptance_approved'
    | 'acceptance_rejected'
    | 'merged'
    | 'split'
    | 'commented'
    | 'comment_withdrawn';
  import: 'created' | 'succeeded' | 'needs_confirmation' | 'confirmed' | 'discarded' | 'failed' | 'file_deleted' | 'file_downloaded';
  member: 'added' | 'invited' | 'updated' | 'removed' | 'subject_linked' | 'subject_unlinked';
  organization: 'created' | 'updated';
  package: 'requested' | 'ready' | 'failed' | 'superseded' | 'viewed' | 'downloaded' | 'verified' | 'shared' | 'share_revoked';
  pipeline_trust: 'created' | 'updated' | 'deleted';
  session: 'created' | 'refused' | 'ended';
  source: 'retired' | 'reactivated';
  sync: 'requested' | 'started' | 'succeeded' | 'partial' | 'failed' | 'cancelled' | 'needs_confirmation' | 'confirmed' | 'discarded';
  ticket: 'pushed' | 'linked' | 'updated' | 'drifted' | 'paused' | 'failed' | 'gone' | 'unlinked';
  upload: 'verified';
  view: 'created' | 'updated' | 'deleted';
  webhook: 'created' | 'updated' | 'secret_rotated' | 'disabled' | 'deleted' | 'replayed' | 'tested';
  work_item:
    | 'created'
    | 'updated'
    | 'status_changed'
    | 'findings_linked'
    | 'finding_unlinked'
    | 'approved'
    | 'rejected'
    | 'commented'
    | 'comment_withdrawn'
    | 'ticket_pushed'
    | 'ticket_linked'
    | 'ticket_written'
    | 'ticket_changed'
    | 'ticket_drifted'
    | 'ticket_repair_requested'
    | 'ticket_paused'
    | 'ticket_failed'
    | 'ticket_gone'
    | 'ticket_unlinked';
}

export type AuditAction = { [Kind in keyof Actions]: `${Kind}.${Actions[Kind]}` }[keyof Actions];
