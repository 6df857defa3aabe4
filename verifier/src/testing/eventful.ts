import { type Facts, sha256, type TrailEvent, toHex, utf8 } from '@rrs/evidence-format';
import { AT, ada, edsger, findingId, grace, IDS } from './sample.ts';
import { item, trailEvent } from './sample-trail.ts';

const END = '2026-06-01T00:00:00.000Z';
const CONTROL = 'The proxy filters requests';
const [REMOVED, MERGED, SECOND_SCAN] = [findingId(901), findingId(902), findingId(905)];

/**
 * More than the sample: one finding was reopened and closed again, one was accepted by two people, made less severe and stands for another one, one was
 * removed. Everything that the sample has none of is there.
 */
export function eventful(facts: Facts, events: TrailEvent[]): void {
  const add = (event: Parameters<typeof trailEvent>[1]): void => void events.push(trailEvent(60 + events.length, event));
  reopen(facts, add);
  accept(facts, add);
  remove(facts, add);
  linkTicket(facts, add);
  fill(facts);
  scanAgain(facts, events);
}

type Add = (event: Parameters<typeof trailEvent>[1]) => void;

function reopen({ findings: [finding] }: Facts, add: Add): void {
  if (finding === undefined) return;
  const object = { type: 'finding', id: finding.id };
  const seen = { status: 'open', reason_code: 'scan_seen_again', clock_started_at: '2026-02-25T08:00:00+00:00' };
  const gone = { status: 'verified', reason_code: 'scan_absent', assurance: 'scan_only', scanned_at: '2026-03-02T08:00:00+00:00' };
  const change = { at: AT.sealed, action: 'finding.status_changed', object };
  add({ ...change, action: 'finding.reopened', before: { status: 'verified' }, after: seen, reason: 'Seen again.', import_id: IDS.before });
  add({ ...change, before: { status: 'open' }, after: gone, reason: 'Gone.', import_id: IDS.after });
  const end = '2026-03-02T08:00:00.000Z';
  const state = { state_changed_at: end, closed_at: end, state_reason: 'Gone.', clock_started_at: '2026-02-25T08:00:00.000Z', reopen_count: 1 };
  Object.assign(finding, { ...state, assurance: 'scan_only', claimed_at: null, claimed_by: null });
}

function accept({ findings: [, finding] }: Facts, add: Add): void {
  if (finding === undefined) return;
  const object = { type: 'finding', id: finding.id };
  const change = { at: AT.sealed, action: 'finding.status_changed', object };
  const severity = { before: { severity: 'high', severity_override: null }, after: { severity: 'low', severity_override: 'low' } };
  add({ ...change, by: edsger, action: 'finding.severity_changed', ...severity, reason: 'Internal' });
  add({ ...change, by: ada, action: 'finding.acceptance_requested', after: { owner: 'Ada', expires_at: END, compensating_control: CONTROL } });
  const terms = { acceptance_owner: 'Ada', acceptance_expires_at: '2026-06-01T00:00:00+00:00', compensating_control: CONTROL };
  const accepted = { ...terms, assurance: null, status_reason: 'Behind a proxy' };
  add({ ...change, by: grace, before: { status: 'verified' }, after: { status: 'risk_accepted', reason_code: 'acceptance_approved', ...accepted } });
  add({
    ...change,
    by: edsger,
    action: 'finding.merged',
    after: { merged_from: MERGED, merged: { kind: 'by_person', state: 'open', title: 'OpenSSL 4', severity: 'high' } },
  });
  const state = { state: 'risk_accepted', cause: 'person', decided_by: grace, assurance: null, state_changed_at: AT.sealed, closed_at: AT.sealed } as const;
  Object.assign(finding, {
    ...state,
    state_reason: 'Behind a proxy',
    acceptance: { owner: 'Ada', expires_at: END, compensating_control: CONTROL, requested_by: ada, approved_by: grace },
    severity: 'low',
    override: { severity: 'low', by: edsger, at: AT.sealed, reason: 'Internal' },
    merged: [{ id: MERGED, state: 'open', title: 'OpenSSL 4', severity: 'high' }],
  });
}

/** The scan of a second scanner, which no longer shows the finding either. Its report is not stored any more. */
function scanAgain({ scans, findings: [, finding] }: Facts, events: TrailEvent[]): void {
  const [scan, at] = [scans.find(({ id }) => id === IDS.after), events.findIndex(({ object }) => object.id === IDS.after)];
  const first = events[at];
  if (scan === undefined || first === undefined || finding === undefined) return;
  const sha256 = '7'.repeat(64);
  scans.push({ ...scan, id: SECOND_SCAN, names: [], sha256, file: null });
  finding.after.others = [SECOND_SCAN];
  events.splice(at + 1, 0, { ...first, id: findingId(906), object: { type: 'import', id: SECOND_SCAN }, after: { ...Object(first.after), sha256 } });
}

function remove({ unlinked }: Facts, add: Add): void {
  unlinked.push({ id: REMOVED, title: 'OpenSSL 3', severity: 'high', state: 'false_positive', at: AT.sealed, by: ada, reason: 'Not ours' });
  const object = { type: 'finding', id: REMOVED };
  const after = { finding_id: REMOVED, severity: 'high', reason: 'Not ours' };
  add({ at: AT.sealed, action: 'work_item.finding_unlinked', by: ada, object: item, after });
  add({ at: AT.sealed, action: 'finding.status_changed', by: ada, object, after: { status: 'false_positive', reason_code: 'by_person' } });
}

/** The service made a ticket for the work item, which is an artifact without an event of its own. */
export function linkTicket({ artifacts }: Pick<Facts, 'artifacts'>, add: Add): void {
  const [ticket, url] = [findingId(904), 'https://tickets.example/CHG-2'];
  const nothing = { description: null, occurred_at: null, filename: null, media_type: null, size: null, sha256: null, file: null };
  const state = { captured: false, superseded_by: null, removed: null };
  const added_by = { kind: 'system', id: null, name: 'Ada', person: null } as const;
  artifacts.push({ id: ticket, type: 'change_ticket', title: 'CHG-2 in Tickets', url, added_at: AT.sealed, added_by, ...nothing, ...state });
  add({ at: AT.sealed, action: 'work_item.ticket_linked', object: item, after: { ticket_id: ticket, key: 'CHG-2', url, found: false } });
}

/** Lists and facts that can only make a package look worse. */
function fill(facts: Facts): void {
  const {
    findings: [, finding],
    assets: [asset],
    scans: [, scan],
    people,
    artifacts,
    redactions,
    abandoned_leaves,
  } = facts;
  if (finding === undefined || asset === undefined || scan === undefined || artifacts[0] === undefined) return;
  const OTHER = findingId(903);
  Object.assign(finding, {
    contradicted_by: IDS.after,
    sources: ['scanner', 'second scanner'],
    after: { ...finding.after, doubts: ['scan_narrower'] },
  });
  finding.work_items.unshift({ id: OTHER, linked_at: AT.created, unlinked_at: AT.claimed });
  Object.assign(asset, { versions: ['3.0.1'], other_open: { ...asset.other_open, high: 1 }, other_open_alike: [OTHER] });
  Object.assign(scan, { doubts: ['checks_selected'] });
  people.push({ id: OTHER, name: 'Olga', email: 'olga@acme.example', role: 'owner', signs_in_with: 'password', credential_from: null });
  abandoned_leaves.push({ index: 3, leaf_sha256: toHex(sha256(utf8('an earlier entry 3'))) });
  facts.frameworks = ['PCI DSS 4.0.1'];
  redactions.push({ file: artifacts[0].file ?? '', pointer: '/token', reason: 'a secret' });
}
