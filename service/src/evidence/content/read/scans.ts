import type { Delivery, Scan } from '@rrs/evidence-format';
import { sql } from 'kysely';
import { trackName } from '../../../assets/track-name.ts';
import { auditTrail, type RecordedActor, recordedActor } from '../../../audit/relations.ts';
import type { TenantTx } from '../../../db/database.ts';
import { readScans, type ScanRow, type ScanSelection } from '../../../findings/facts/scan-facts.ts';
import { connectionFacts } from '../../../integrations/relations.ts';
import { isSelfDescribed, readLabels, relabelledScans } from '../../../work-items/standing/relabelled.ts';
import type { ToPerson } from './persons.ts';
import { pipelineDelivery, readTrustChanges } from './pipeline-scans.ts';

/** Where the original of a scan is stored depends on its phase, so both are added later. `names` are still all vulnerabilities that the file names. */
export interface ScanFacts extends Omit<Scan, 'phase' | 'file'> {
  /** Whether somebody asked for the file to be deleted. */
  is_deleted: boolean;
}

interface ScansToRead extends ScanSelection {
  /** The scans that showed one of the findings that are asked about. */
  seenIn?: ReadonlySet<string>;
}

export async function readScanFacts(tx: TenantTx, orgId: string, selection: ScansToRead, toPerson: ToPerson): Promise<ScanFacts[]> {
  const rows = await readScans(tx, orgId, selection);
  const ids = rows.map(({ id }) => id);
  const { rows: confirmations } = await sql<{ id: string; occurred_at: Date; actor: RecordedActor }>`
    select e.object_id as id, e.occurred_at, ${recordedActor('e')} as actor from ${auditTrail} e
    where e.org_id = ${orgId} and e.object_id = any(${ids}) and e.action = 'import.confirmed'`.execute(tx);
  const confirmed = new Map(confirmations.map(({ id, occurred_at, actor }) => [id, { by: toPerson(actor), at: occurred_at.toISOString() }]));
  const connections = await readConnections(
    tx,
    orgId,
    rows.flatMap(({ connection_id }) => connection_id ?? []),
  );
  const trusts = await readTrustChanges(
    tx,
    orgId,
    rows.flatMap(({ pipeline }) => pipeline?.trust.id ?? []),
  );
  const { assetIds, seenIn = new Set<string>() } = selection;
  const relabelled = relabelledScans(rows, await readLabels(tx, orgId, rows, assetIds), { assetIds, seenIn });
  return rows.map((row) => {
    const facts = scanFacts(row);
    const delivery = row.pipeline === null ? deliveryOf(row, connections, toPerson) : pipelineDelivery(row, row.pipeline, trusts, toPerson);
    return { ...facts, self_described: facts.self_described || relabelled.has(row.id), delivery, confirmed: confirmed.get(row.id) ?? null };
  });
}

function scanFacts(row: ScanRow): Omit<ScanFacts, 'delivery' | 'confirmed'> {
  const { run, covered, scan_scope: scope, connection_id } = row;
  const isConnection = connection_id !== null;
  const [targets, version, track] = [run.targets ?? [], only(row.versions), only(row.tracks)];
  const isComplete = scope.coverage === 'complete' && row.rejected === 0 && covered?.complete !== false;
  return {
    id: row.id,
    status: row.status,
    tool: row.tool,
    tool_version: run.tool_version ?? null,
    knowledge_at: time(run.knowledge_at ?? covered?.knowledge_at),
    credentialed: run.credentialed ?? covered?.credentialed ?? null,
    ...timesOf(row),
    received_at: row.created_at.toISOString(),
    imported_at: row.finished_at?.toISOString() ?? null,
    format: row.format ?? 'unknown',
    filename: row.filename,
    targets,
    vantage: scope.vantage ?? null,
    version,
    track: track === null ? null : trackName(track || null),
    complete: isComplete,
    doubts: doubtsOf(row, isComplete),
    records: row.received,
    rejected: row.rejected,
    names: row.names,
    self_described: isSelfDescribed(row),
    copy_of: row.copy_of,
    sha256: row.sha256,
    size: Number(row.bytes),
    original: isConnection ? 'records' : 'bytes',
    is_deleted: row.is_deleted,
  };
}

/**
 * The times of the report itself. A time that differs from the upload and from what the uploader stated comes from what the report says about single assets.
 * A connection looks when it runs, unless what it fetched states an earlier time.
 */
function timesOf({ run, covered, scan_scope: scope, connection_id, created_at }: ScanRow): Pick<Scan, 'started_at' | 'ended_at'> {
  if (connection_id !== null) {
    const [began, ended] = [time(scope.started_at), time(covered?.ended_at)];
    return { started_at: time(covered?.started_at) ?? began, ended_at: ended === null || ended === began ? created_at.toISOString() : ended };
  }
  const stated = (text: string | undefined): string | null => {
    const at = time(text);
    return at === created_at.toISOString() || at === time(scope.started_at) || !run.names_time ? null : at;
  };
  const [started_at, ended_at] = [time(run.started_at) ?? stated(covered?.started_at), time(run.finished_at) ?? stated(covered?.ended_at)];
  // A start after the end is no start. Such a report closes nothing.
  return { started_at: started_at !== null && ended_at !== null && started_at > ended_at ? null : started_at, ended_at };
}

function doubtsOf({ run, covered, scan_scope: { coverage }, rejected, connection_id }: ScanRow, isComplete: boolean): string[] {
  return [
    ...(coverage === 'complete' ? [] : ['partial_coverage']),
    ...(rejected > 0 ? ['records_rejected'] : []),
    ...(coverage === 'complete' && rejected === 0 && !isComplete ? ['coverage_doubtful'] : []),
    ...(covered === null ? ['not_applied'] : []),
    ...(covered?.selective ? ['checks_selected'] : []),
    ...(connection_id === null && !run.names_time ? ['time_unstated'] : []),
  ].sort();
}

const time = (text: string | null | undefined): string | null => (text ? new Date(text).toISOString() : null);
const only = (values: readonly string[]): string | null => (values.length === 1 ? (values[0] ?? null) : null);

interface ConnectionHistory {
  id: string;
  name: string;
  provider: string;
  /** When settings or credentials were set, oldest first. The first change creates the connection. */
  changes: { at: string; actor: RecordedActor }[];
}

async function readConnections(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<Map<string, ConnectionHistory>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<ConnectionHistory>`
    select c.id, c.name, c.provider, changes.changes from ${connectionFacts} c
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object('at', e.occurred_at, 'actor', ${recordedActor('e')}) order by e.occurred_at, e.id), '[]') as changes from ${auditTrail} e
      where e.org_id = ${orgId} and e.object_id = c.id::text
        and (e.action = 'connection.created' or (e.action = 'connection.updated' and (e.before->'config' <> e.after->'config' or e.after->'credentials_changed' <> '[]')))
    ) changes
    where c.org_id = ${orgId} and c.id = any(${ids as string[]}::uuid[])`.execute(tx);
  return new Map(rows.map((row) => [row.id, row]));
}

function deliveryOf(row: ScanRow, connections: ReadonlyMap<string, ConnectionHistory>, toPerson: ToPerson): Delivery {
  const connection = row.connection_id === null ? undefined : connections.get(row.connection_id);
  const created = connection?.changes[0];
  if (!connection || !created) return { method: 'upload', by: toPerson(row.actor), connection: null, pipeline: null };
  const { id, name, provider, changes } = connection;
  const changed = changes.findLast(({ at }) => new Date(at) <= row.created_at) ?? created;
  return {
    method: 'connection',
    by: toPerson({ type: 'connection', id, name }),
    connection: {
      id,
      name,
      provider,
      host: row.settings?.host ?? null,
      settings_sha256: row.settings?.sha256 ?? '',
      created_by: toPerson(created.actor),
      changed_by: toPerson(changed.actor),
      changed_at: new Date(changed.at).toISOString(),
    },
    pipeline: null,
  };
}
