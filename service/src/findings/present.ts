import type { Static } from 'typebox';
import { RISK_MODEL, riskOf } from '../vulnerabilities/risk.ts';
import type { ImportRow } from './import/manage-imports.ts';
import type { FindingRow, ListedFinding as ListedRow, namesFor, readDetails, readHistory } from './list/list.ts';
import type { Finding, HistoryEntry, Import, ListedFinding } from './schemas.ts';
import { severityName } from './severity.ts';
import { activeStatuses } from './status.ts';

/** Rows as the interface shows them. */
type Names = Awaited<ReturnType<typeof namesFor>>;
type Details = Awaited<ReturnType<typeof readDetails>>;
type HistoryRow = Awaited<ReturnType<typeof readHistory>>['data'][number];

const LOCATION = [
  'component',
  'version',
  'fixed_version',
  'purl',
  'path',
  'line',
  'end_line',
  'port',
  'protocol',
  'url',
  'method',
  'parameter',
  'resource',
] as const;

export function toListed(row: ListedRow, { assets, sources, suppressed }: Names): Static<typeof ListedFinding> {
  const location = row.location as Record<string, unknown>;
  const due = deadlineOf(row.due_at);
  const asset = assets.get(row.asset_id);
  return {
    id: row.id,
    title: row.title,
    status: row.status,
    assurance: row.assurance,
    severity: severityName(row.severity),
    severity_overridden: row.severity_override !== null,
    cves: row.vulnerability_ids.filter((id) => id.startsWith('CVE-')),
    vulnerability_ids: row.vulnerability_ids,
    cwes: row.cwes,
    cvss: row.cvss_vector === null || row.cvss_score === null ? null : { version: row.cvss_version ?? '', vector: row.cvss_vector, score: row.cvss_score },
    epss: row.epss === null ? null : { score: row.epss, percentile: row.epss_percentile, date: row.epss_date },
    kev: { listed: row.kev, due_date: row.kev_due_date },
    risk_score: row.risk_score,
    asset: {
      id: row.asset_id,
      type: asset?.type ?? 'other',
      name: asset?.name ?? '',
      criticality: asset?.criticality ?? 'medium',
      exposure: asset?.exposure ?? 'unknown',
    },
    location: Object.fromEntries(LOCATION.map((name) => [name, location[name] ?? null])) as Static<typeof ListedFinding>['location'],
    sources: row.source_ids.flatMap((id) => sources.get(id) ?? []).map(toSource),
    first_seen: row.first_seen.toISOString(),
    last_seen: row.last_seen.toISOString(),
    due_at: due?.toISOString() ?? null,
    overdue: due !== null && due.getTime() < Date.now() && (activeStatuses as readonly string[]).includes(row.status),
    suppressed: suppressed.has(row.id),
    reopen_count: row.reopen_count,
    tags: row.tags,
    version: row.version,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** PostgreSQL's `infinity` arrives as a number. */
function deadlineOf(due: Date | number): Date | null {
  return due instanceof Date ? due : null;
}

export function toFinding(row: FindingRow, details: Details): Static<typeof Finding> {
  const asset = details.assets.get(row.asset_id);
  const risk = riskOf({ ...row, criticality: asset?.criticality ?? 'medium', exposure: asset?.exposure ?? 'unknown' });
  return {
    ...toListed(row, details),
    description: details.text?.description ?? null,
    solution: details.text?.solution ?? null,
    references: details.text?.reference_urls ?? [],
    weakness: row.weakness,
    status_reason: row.status_reason,
    status_changed_at: row.status_changed_at.toISOString(),
    acceptance: row.acceptance_expires_at === null ? null : { owner: row.acceptance_owner ?? '', expires_at: row.acceptance_expires_at.toISOString() },
    justification: row.justification as Static<typeof Finding>['justification'],
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
    sightings: details.sightings.map((sighting) => ({
      source: toSource({ id: sighting.source_id, kind: sighting.kind, provider: sighting.provider, tool: sighting.tool, name: sighting.source_name }),
      state: sighting.state,
      external_id: sighting.external_id,
      severity: severityName(sighting.severity),
      tool_severity: sighting.tool_severity,
      suppressed: sighting.suppressed,
      first_seen: sighting.first_seen.toISOString(),
      last_seen: sighting.last_seen.toISOString(),
      last_import_id: sighting.last_import_id,
    })),
    work_items: details.workItems.map(({ id, title, status, linked_at }) => ({ id, title, status, linked_at: linked_at.toISOString() })),
  };
}

export function toHistoryEntry(row: HistoryRow): Static<typeof HistoryEntry> {
  return {
    id: row.id,
    occurred_at: row.occurred_at.toISOString(),
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    import_id: row.import_id,
    action: row.action,
    before: row.before as Record<string, unknown>,
    after: row.after as Record<string, unknown>,
    reason: row.reason,
  };
}

export function toImport(row: ImportRow): Static<typeof Import> {
  return {
    id: row.id,
    status: row.status,
    format: row.format,
    filename: row.filename,
    sha256: row.sha256,
    bytes: Number(row.bytes),
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
    rejected: row.rejections as Static<typeof Import>['rejected'],
    notes: row.notes as string[],
    error: row.error,
    dry_run: row.dry_run,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

interface NamedSource {
  id: string;
  kind: 'manual' | 'import' | 'connection';
  provider: string;
  tool: string;
  name: string;
}

/** Sources that are connections are kept by the connection's id. */
function toSource({ name, ...source }: NamedSource) {
  const isConnection = source.kind === 'connection';
  return { ...source, name: isConnection ? '' : name, connection_id: isConnection ? name : null };
}
