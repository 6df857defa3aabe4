import type { Static } from 'typebox';
import type { TenantTx } from '../db/database.ts';
import { readPolicy } from '../organizations/read-policy.ts';
import type { Actor, PipelineIdentity } from '../shared/actor.ts';
import { RISK_MODEL, riskOf } from '../vulnerabilities/risk.ts';
import { toOccurrence, toSighting, toStillOpen } from './details/present.ts';
import { type Details, readDetails } from './details/read-details.ts';
import { seenBuilds, stillOpenBecause } from './details/still-open.ts';
import { shownPerson } from './fields/acceptance.ts';
import { showDetails, showListed } from './fields/derive.ts';
import type { FindingRow } from './fields/field.ts';
import type { DecisionRow } from './fields/names.ts';
import type { Decision } from './fields/shapes.ts';
import { type CountsBySeverity, emptyCounts } from './import/count-changes.ts';
import { type ImportRow, type ListedImportRow, shownPipeline } from './import/manage-imports.ts';
import type { readHistory } from './list/list.ts';
import type { Finding, Import, ListedImport } from './schemas.ts';
import type { HistoryEntry } from './schemas-triage.ts';
import { severityName } from './severity.ts';
import { transitionsOf } from './triage/transitions.ts';

/** Converts rows to API objects. */
type HistoryRow = Awaited<ReturnType<typeof readHistory>>['data'][number];

/** Reads what belongs to the finding and shows it to the actor. */
export async function showFinding(tx: TenantTx, actor: Actor, row: FindingRow): Promise<Static<typeof Finding>> {
  const [details, policy] = await Promise.all([readDetails(tx, actor.orgId, row), readPolicy(tx, actor.orgId)]);
  return { ...toFinding(row, details), transitions: transitionsOf(row, actor, policy) };
}

function toFinding(row: FindingRow, details: Details): Omit<Static<typeof Finding>, 'transitions'> {
  const asset = details.assets.get(row.asset_id);
  const risk = riskOf({ ...row, criticality: asset?.criticality ?? 'medium', exposure: asset?.exposure ?? 'unknown' }, { ...row, ...details.riskOrigin });
  return {
    ...showListed(row, details),
    ...showDetails(row, details),
    ...details.texts,
    severity_override:
      row.severity_override === null
        ? null
        : {
            severity: severityName(row.severity_override),
            source_severity: severityName(row.source_severity),
            by: row.severity_override_by ?? '',
            reason: row.severity_override_reason ?? '',
          },
    risk: { score: risk.score, model: RISK_MODEL, factors: risk.factors },
    sightings: details.sightings.map((sighting) => toSighting(sighting, row, details)),
    still_open_because: stillOpenBecause(row, details.sightings).map(toStillOpen),
    versions: seenBuilds(details.sightings),
    occurrence_count: details.occurrences.count,
    occurrences: details.occurrences.first.map(toOccurrence),
    decisions: (details.decisions.get(row.id) ?? []).map(toDecision),
    work_items: details.linked,
  };
}

function toDecision(row: DecisionRow): Static<typeof Decision> {
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    scope: row.scope,
    decided_by: shownPerson(row.person, row.person_name),
    approved_by: shownPerson(row.approver, row.approver_name),
    reason: row.reason,
    approval_reason: row.approver_reason,
    owner: row.owner,
    expires_at: row.expires_at?.toISOString() ?? null,
    compensating_control: row.compensating_control,
    justification: row.justification as Static<typeof Decision>['justification'],
    severity: severityName(row.severity),
    kev: row.kev,
    requested_at: row.requested_at.toISOString(),
    decided_at: row.decided_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
    ended_reason: row.ended_reason,
  };
}

export function toHistoryEntry(row: HistoryRow): Static<typeof HistoryEntry> {
  return {
    id: row.id,
    occurred_at: row.occurred_at.toISOString(),
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    person: shownPerson(row.person, row.person_name),
    import_id: row.import_id,
    action: row.action,
    before: row.before as Record<string, unknown>,
    after: row.after as Record<string, unknown>,
    reason: row.reason,
  };
}

export function toImport(row: ImportRow): Static<typeof Import> {
  return { ...toListedImport(row), scan: statedScan(row), rejected: row.rejections as Static<typeof Import>['rejected'] };
}

type Scan = Static<typeof Import>['scan'];
const UNSTATED: Scan = { tool_version: null, started_at: null, finished_at: null, knowledge: null, knowledge_at: null, credentialed: null };

function statedScan({ run }: ImportRow): Scan {
  const { tool_version, started_at, finished_at, knowledge, knowledge_at, credentialed } = { ...UNSTATED, ...(run as Partial<Scan> | null) };
  return { tool_version, started_at, finished_at, knowledge, knowledge_at, credentialed };
}

export function toListedImport(row: ListedImportRow): Static<typeof ListedImport> {
  return {
    id: row.id,
    status: row.status,
    format: row.format,
    filename: row.filename,
    sha256: row.sha256,
    bytes: Number(row.bytes),
    file_deleted_at: row.file_deleted_at?.toISOString() ?? null,
    file_deleted_by: row.file_deleted_by,
    scan_scope: row.scan_scope as Static<typeof Import>['scan_scope'],
    progress: { bytes_read: Number(row.bytes_read), records_read: Number(row.records_read) },
    counts: {
      received: row.received,
      created: row.created,
      updated: row.updated,
      unchanged: row.unchanged,
      reopened: row.reopened,
      rejected: row.rejected,
      closed: row.closed,
    },
    counts_by_severity: { ...emptyCounts(), ...(row.by_severity as Partial<CountsBySeverity>) },
    notes: row.notes as string[],
    error: row.error,
    dry_run: row.dry_run,
    created_by: row.created_by,
    pipeline: row.pipeline === null ? null : shownPipeline(row.pipeline as PipelineIdentity),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}
