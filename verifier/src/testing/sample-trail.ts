import type { Facts, Person, TrailEvent } from '@rrs/evidence-format';
import { AT, ada, edsger, grace, IDS, id } from './sample.ts';

type EventFacts = Pick<TrailEvent, 'at' | 'action' | 'object'> & Partial<TrailEvent>;

/** Completes an event of the audit trail. `by` defaults to the service itself. */
export function trailEvent(number: number, { by, ...facts }: EventFacts & { by?: Person }): TrailEvent {
  const actor = by === undefined ? { type: 'system', id: null, name: 'worker', person: null } : { type: by.kind, id: by.id, name: by.name, person: by.person };
  return { id: id(1000 + number), actor, before: null, after: null, reason: null, import_id: null, request_id: `request-${number}`, ...facts };
}

export const item = { type: 'work_item', id: IDS.workItem };

/** The audit trail of the sample. */
export function sampleTrail(): TrailEvent[] {
  const [first, second] = IDS.findings.map((finding) => ({ type: 'finding', id: finding }));
  const claimed = { at: AT.claimed, action: 'finding.status_changed', by: ada, before: { status: 'open' }, after: { status: 'remediated' } };
  const verified = {
    at: AT.verified,
    action: 'finding.status_changed',
    before: { status: 'remediated' },
    after: { status: 'verified', reason_code: 'scan_absent' },
    import_id: IDS.after,
  };
  const collected = { connection_id: IDS.connection, settings: { host: 'scanner.example', sha256: '2'.repeat(64) } };
  const imported = { action: 'import.created', after: { format: null, filename: 'report.json', dry_run: false, ...collected } };
  const facts: (EventFacts & { by?: Person })[] = [
    { at: AT.policy, action: 'connection.created', by: edsger, object: { type: 'connection', id: IDS.connection }, after: { name: 'Scanner' } },
    { ...imported, at: AT.received, object: { type: 'import', id: IDS.before } },
    { at: AT.created, action: 'work_item.created', by: ada, object: item },
    { at: AT.created, action: 'work_item.findings_linked', by: ada, object: item, after: { linked: 2, finding_ids: IDS.findings, filter: { asset: 'web' } } },
    { ...claimed, object: first ?? item },
    { ...claimed, object: second ?? item },
    { ...imported, at: AT.verified, object: { type: 'import', id: IDS.after } },
    { ...verified, object: first ?? item },
    { ...verified, object: second ?? item },
    { at: AT.verified, action: 'work_item.status_changed', object: item, before: { status: 'open' }, after: { status: 'verified' } },
    { at: AT.artifact, action: 'artifact.added', by: ada, object: { type: 'artifact', id: IDS.artifact }, after: { work_item_id: IDS.workItem } },
    { at: AT.approved, action: 'work_item.approved', by: grace, object: item, after: { approval_id: IDS.approval, comment: null } },
  ];
  return facts.map((event, index) => trailEvent(index + 1, event));
}

/** What the service records about an earlier package. */
export function packageEvents(number: number, { package_id: id, sequence, outcome, log, tagmanifest_sha256 }: Facts['earlier'][number]): TrailEvent[] {
  const event = { at: AT.sealed, object: { type: 'evidence_package', id } };
  const published = { ...event, action: 'package.ready', after: { sequence, tagmanifest_sha256, log_index: log?.index } };
  const last = { ...event, action: `package.${outcome}`, after: { sequence } };
  const events = [...(log === null ? [] : [published]), ...(outcome === 'superseded' || outcome === 'failed' ? [last] : [])];
  return [
    trailEvent(number, { ...event, action: 'package.requested', by: ada, after: { sequence, note: null } }),
    ...events.map((one, index) => trailEvent(number + 1 + index, one)),
  ];
}

export function packageRequest(number: number, id: string): TrailEvent {
  const after = { sequence: id === IDS.previous ? 1 : 2, note: null };
  return trailEvent(number, { at: AT.sealed, action: 'package.requested', by: ada, object: { type: 'evidence_package', id }, after });
}
