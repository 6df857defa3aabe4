import {
  type Artifact,
  type Collection,
  concludeFrom,
  countsOf,
  EVIDENCE_SCHEMA_ID,
  gradeOf,
  type PackageFormat,
  type Redaction,
  reasonsOf,
  type Scan,
} from '@rrs/evidence-format';
import { priorityName } from '../../work-items/items/priority.ts';
import type { ArtifactRow } from '../artifacts/artifacts.ts';
import type { ReportedEvidence } from '../formats/context.ts';
import type { LogState } from '../log/transparency-log.ts';
import type { PackageRow } from '../packages/packages.ts';
import { checksOf } from './checks.ts';
import { controlsOf } from './controls.ts';
import { gapsOf } from './gaps.ts';
import { toPerson } from './person.ts';
import type { Snapshot } from './snapshot.ts';

interface PackageSettings {
  generatedAt: Date;
  version: string;
  formats: PackageFormat[];
  /** Whether time-stamping authorities are asked for timestamps. */
  timestamped: boolean;
  log: Pick<LogState, 'epoch' | 'createdAt'>;
  /** SHA-256 of the scan reports that are still stored. */
  storedReports: ReadonlySet<string>;
}

/** Builds the content of evidence.json, except its list of files. Every statement follows from the snapshot. */
export function buildEvidence(row: PackageRow, snapshot: Snapshot, settings: PackageSettings): ReportedEvidence {
  const { item, asOf, findings } = snapshot;
  const { generatedAt, version, formats, timestamped, storedReports, log } = settings;
  const scans = buildScans(snapshot, storedReports);
  const artifacts = snapshot.artifacts.map(buildArtifact);
  const approvals = snapshot.approvals.map(({ id, decision, actor_type, actor_id, actor_name, person_name, occurred_at, comment }) => ({
    id,
    decision,
    by: toPerson({ type: actor_type, id: actor_id, name: person_name ?? actor_name }),
    at: occurred_at.toISOString(),
    comment,
  }));
  const abandoned = snapshot.abandoned;
  const gaps = gapsOf({
    findings,
    scans,
    artifacts,
    decisions: snapshot.decisions,
    unlinked: snapshot.unlinked,
    staleSources: snapshot.staleSources,
    abandoned: abandoned.length,
    timestamped,
    logRestarted: log.epoch > 1 && item.created_at < log.createdAt ? log.createdAt : null,
    fourEyes: snapshot.fourEyes,
  });
  const due: Date | number = item.due_at;
  return {
    schema: EVIDENCE_SCHEMA_ID,
    package_id: row.id,
    sequence: row.sequence,
    supersedes: snapshot.supersedes ? { package_id: snapshot.supersedes.id, sequence: snapshot.supersedes.sequence } : null,
    organization: { id: snapshot.organization.id, name: snapshot.organization.name || 'unnamed' },
    work_item: {
      id: item.id,
      title: item.title,
      description: item.description,
      status: item.status,
      priority: priorityName(item.priority),
      assignee: item.assignee,
      due_at: due instanceof Date ? due.toISOString() : null,
      external_ref: item.external_ref,
      created_at: item.created_at.toISOString(),
      closed_at: item.closed_at?.toISOString() ?? null,
      follows: item.follows,
    },
    as_of: asOf.toISOString(),
    generated_at: generatedAt.toISOString(),
    generator: { name: 'Remediation Risk Service', version },
    requested_by: toPerson(row.requested_by as Parameters<typeof toPerson>[0]),
    note: row.note,
    conclusion: { status: concludeFrom(findings), reasons: reasonsOf(findings) },
    completeness: { grade: gradeOf(gaps), gaps },
    counts: { ...countsOf(findings), artifacts: artifacts.length, scans: scans.length },
    findings,
    scans,
    artifacts,
    approvals,
    checks: checksOf(snapshot),
    controls: controlsOf({ findings, scans, artifacts, approvals }),
    collection: [...scanCollection(snapshot, scans), ...artifactCollection(snapshot.artifacts, artifacts)],
    redactions: snapshot.artifacts.flatMap(redactionsOf),
    audit_trail: snapshot.trail.summary,
    abandoned_leaves: abandoned.map(({ index, leaf_hash }) => ({
      index,
      leaf_sha256: leaf_hash.toString('hex'),
      reason: 'Sealing was interrupted after this entry was made. No package was published with it.',
    })),
    formats,
  };
}

function buildScans({ scans, findings }: Snapshot, storedReports: ReadonlySet<string>): Scan[] {
  const confirming = new Set(findings.flatMap(({ after }) => (after.state === 'absent' ? [after.scan] : [])));
  return scans.map((scan) => {
    const phase = confirming.has(scan.id) ? 'after' : 'before';
    const { coverage } = scan.scan_scope as { coverage?: string };
    return {
      id: scan.id,
      phase,
      tool: scan.tool === '' ? (scan.format ?? 'unknown') : scan.tool,
      format: scan.format ?? 'unknown',
      filename: scan.filename,
      received_at: scan.created_at.toISOString(),
      finished_at: scan.finished_at?.toISOString() ?? null,
      complete: coverage === 'complete' && scan.rejected === 0,
      records: scan.received,
      sha256: scan.sha256,
      size: Number(scan.bytes),
      file: storedReports.has(scan.sha256) ? `data/scans/${phase}/${scan.id}/report` : null,
    } satisfies Scan;
  });
}

function buildArtifact(row: ArtifactRow): Artifact {
  const { removal } = row;
  const captured = row.sha256 !== null && removal === null;
  return {
    id: row.id,
    type: row.type,
    title: row.title,
    description: row.description,
    occurred_at: row.occurred_at?.toISOString() ?? null,
    added_at: row.added_at.toISOString(),
    added_by: toPerson(row.added_by as Parameters<typeof toPerson>[0]),
    url: row.url,
    filename: row.filename,
    media_type: row.media_type,
    size: row.size === null ? null : Number(row.size),
    sha256: row.sha256,
    file: captured ? `data/artifacts/${row.id}/content` : null,
    superseded_by: row.superseded_by,
    removed: removal && { at: removal.removed_at, by: toPerson(removal.removed_by), reason: removal.reason },
  };
}

function scanCollection({ scans: rows }: Snapshot, scans: readonly Scan[]): Collection[] {
  const actorOf = new Map(rows.map(({ id, actor }) => [id, actor as Parameters<typeof toPerson>[0]]));
  return scans.flatMap(({ id, file, sha256, size, tool, received_at }) => {
    const actor = actorOf.get(id);
    if (file === null || !actor) return [];
    return [
      {
        file,
        sha256,
        size,
        media_type: 'application/octet-stream',
        method: 'upload' as const,
        source: tool,
        collected_at: received_at,
        collected_by: toPerson(actor),
      },
    ];
  });
}

function artifactCollection(rows: readonly ArtifactRow[], artifacts: readonly Artifact[]): Collection[] {
  return artifacts.flatMap(({ file, sha256, size, media_type, added_at, added_by }, index) => {
    if (file === null || sha256 === null || size === null) return [];
    const capture = rows[index]?.capture;
    return [
      {
        file,
        sha256,
        size,
        media_type: media_type ?? 'application/octet-stream',
        method: capture ? ('connection' as const) : ('upload' as const),
        source: capture?.url ?? 'upload',
        collected_at: capture?.captured_at ?? added_at,
        collected_by: added_by,
      },
    ];
  });
}

function redactionsOf({ id, redactions }: ArtifactRow): Redaction[] {
  const file = `data/artifacts/${id}/meta.json`;
  return (redactions as { pointer: string; reason: string }[]).map(({ pointer, reason }) => ({ file, pointer, reason }));
}
