import { canonicalJson, type EvidenceDocument, fieldOf, type TrailEvent } from '@rrs/evidence-format';
import { EVIDENCE, type Fault } from '../fault.ts';
import type { Act } from './act.ts';

/** What the audit trail says about how scans reached the service. */
export interface DeliveryFacts {
  /** By scan: who sent it, and from which connection or pipeline it came. */
  imported: Map<string, Act & { recorded: unknown }>;
  /** By connection or trusted pipeline: who set its settings or credentials, oldest first. The first act created it. */
  connections: Map<string, Act[]>;
  /** By scan: what became of it. */
  outcomes: Map<string, Scan['status']>;
}

const OUTCOMES: ReadonlyMap<string, Scan['status']> = new Map([
  ['import.failed', 'failed'],
  ['import.discarded', 'discarded'],
  ['import.confirmed', 'succeeded'],
]);

/** Adds the next event. */
export function addDelivery({ imported, connections, outcomes }: DeliveryFacts, event: TrailEvent): void {
  const { at, action, actor, object, after } = event;
  const act = { at, person: actor.person };
  if (action === 'import.created') imported.set(object.id, { ...act, recorded: after });
  const outcome = OUTCOMES.get(action);
  if (outcome !== undefined) outcomes.set(object.id, outcome);
  if (setsConnection(event)) connections.set(object.id, [...(connections.get(object.id) ?? []), act]);
}

function setsConnection({ action, before, after }: TrailEvent): boolean {
  if (action === 'connection.created' || action === 'pipeline_trust.created' || action === 'pipeline_trust.updated') return true;
  if (action !== 'connection.updated') return false;
  const [was, is, credentials] = [fieldOf(before, 'config'), fieldOf(after, 'config'), fieldOf(after, 'credentials_changed')];
  const isOther = was !== undefined && is !== undefined && canonicalJson(was) !== canonicalJson(is);
  return isOther || (Array.isArray(credentials) && credentials.length > 0);
}

type Scan = EvidenceDocument['scans'][number];

/** Checks that a scan came as it says. Provenance follows from it. */
export function* deliveryFaults(scan: Scan, facts: DeliveryFacts): Generator<Fault> {
  const act = facts.imported.get(scan.id);
  const { method, by, connection } = scan.delivery;
  if (act === undefined) yield unproven(`that the scan ${scan.id} was received`);
  else {
    const expected = expectedOf(act.recorded, facts);
    if (method !== expected.method || (method !== 'connection' && by.person !== act.person) || (connection?.id ?? null) !== expected.connection)
      yield {
        ...unproven(`that the scan ${scan.id} came this way and from this person`),
        expected: `${expected.method} ${expected.connection ?? ''}`.trim(),
        actual: `${method} ${connection?.id ?? ''}`.trim(),
      };
    else if ((fieldOf(act.recorded, 'sha256') ?? scan.sha256) !== scan.sha256) yield unproven(`that the report of the scan ${scan.id} has this hash`);
    else if ((typeof fieldOf(act.recorded, 'connection_id') === 'string') !== (scan.original === 'records'))
      yield unproven(`that the scan ${scan.id} is stored in this form`);
    else if (!isSameRun(scan, fieldOf(act.recorded, 'pipeline'))) yield unproven(`that the token of the pipeline that sent the scan ${scan.id} said this`);
    else if (connection !== null && expected.settings !== undefined && !isSame(expected.settings, connection))
      yield unproven(`that the scan ${scan.id} was made with these settings`);
  }
  if (method === 'connection' && (by.kind !== 'connection' || by.id !== connection?.id || by.name !== connection?.name))
    yield { code: 'contradiction', file: EVIDENCE, detail: `The scan ${scan.id} was delivered by something else than its connection.` };
  const outcome = facts.outcomes.get(scan.id) ?? scan.status;
  if (outcome !== scan.status) yield { ...unproven(`that the import of the scan ${scan.id} ended in this way`), expected: outcome, actual: scan.status };
  if (connection !== null) yield* connectionFaults(scan, connection, facts.connections.get(connection.id) ?? []);
}

interface Expected {
  method: Scan['delivery']['method'];
  /** ID of the connection or trusted pipeline. Null if none counts. */
  connection: string | null;
  /** Undefined if the audit trail does not record them. */
  settings: unknown;
}

/** The trust in a pipeline counts only on a protected ref. A connection without history counts as an upload by the service. */
function expectedOf(recorded: unknown, { connections }: DeliveryFacts): Expected {
  const [pipeline, connection, settings] = ['pipeline', 'connection_id', 'settings'].map((name) => fieldOf(recorded, name));
  const known = (id: unknown): string | null => (typeof id === 'string' && connections.has(id) ? id : null);
  if (pipeline !== undefined)
    return { method: 'pipeline', connection: fieldOf(pipeline, 'ref_protected') === true ? known(fieldOf(pipeline, 'trust_id')) : null, settings };
  const id = known(connection);
  return { method: id === null ? 'upload' : 'connection', connection: id, settings };
}

/** The audit trail has what the token said, next to the ID of the trust. */
function isSameRun({ delivery: { pipeline } }: Scan, recorded: unknown): boolean {
  if (pipeline === null || recorded === undefined) return pipeline === null && recorded === undefined;
  const { proof: _, ...claims } = pipeline;
  return Object.entries(claims).every(([name, claim]) => claim === (fieldOf(recorded, name) ?? null));
}

type Connection = NonNullable<Scan['delivery']['connection']>;

function isSame(settings: unknown, { host, settings_sha256 }: Connection): boolean {
  return (fieldOf(settings, 'host') ?? null) === host && (fieldOf(settings, 'sha256') ?? '') === settings_sha256;
}

function* connectionFaults({ id, received_at }: Scan, { created_by, changed_by, changed_at }: Connection, acts: readonly Act[]): Generator<Fault> {
  const [created] = acts;
  if (created === undefined) return yield unproven(`who created the connection or trusted the pipeline of the scan ${id}`);
  const changed = acts.findLast(({ at }) => at <= received_at) ?? created;
  if (created.person !== created_by.person || changed.person !== changed_by.person || changed.at !== changed_at)
    yield {
      ...unproven(`that these people created and last changed the connection of the scan ${id}`),
      expected: `${created.person}, ${changed.person} at ${changed.at}`,
      actual: `${created_by.person}, ${changed_by.person} at ${changed_at}`,
    };
}

function unproven(what: string): Fault {
  return { code: 'unproven', file: EVIDENCE, detail: `The audit trail does not show ${what}.` };
}
