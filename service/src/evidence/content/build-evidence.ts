import {
  type Artifact,
  type Capture,
  collectionOf,
  deriveEvidence,
  EVIDENCE_SCHEMA_ID,
  type Evidence,
  type Facts,
  type PackageFormat,
  RENDERER,
  type Redaction,
  type Scan,
  scansAfter,
} from '@rrs/evidence-format';
import { priorityName } from '../../work-items/items/priority.ts';
import type { ArtifactRow } from '../artifacts/artifacts.ts';
import type { LogState } from '../log/transparency-log.ts';
import type { PackageToBuild } from '../packages/packages.ts';
import type { StoredActor, ToPerson } from './read/persons.ts';
import type { Snapshot } from './snapshot.ts';

interface PackageSettings {
  generatedAt: Date;
  version: string;
  /** SHA-256 over the files of the program. */
  build: string | null;
  formats: PackageFormat[];
  /** Whether time-stamping authorities are asked for timestamps. */
  timestamped: boolean;
  /** Whether all witnesses confirmed the log just before. Null if there are none, or before they are asked. */
  witnessed: boolean | null;
  log: Pick<LogState, 'origin' | 'epoch' | 'createdAt'>;
  /** SHA-256 of the scan reports that are still stored. */
  storedReports: ReadonlySet<string>;
}

/** Everything that does not state a fact follows from the facts and the audit trail. */
export function buildEvidence(row: PackageToBuild, snapshot: Snapshot, settings: PackageSettings): Evidence {
  return deriveEvidence(buildFacts(row, snapshot, settings), snapshot.trail.events);
}

export function buildFacts(
  row: PackageToBuild,
  snapshot: Snapshot,
  { generatedAt, version, build, formats, timestamped, witnessed, storedReports, log }: PackageSettings,
): Facts {
  const { item, asOf, unlinked, sources, findings, toPerson } = snapshot;
  const scans = buildScans(snapshot, storedReports);
  const artifacts = snapshot.artifacts.map((artifact) => buildArtifact(artifact, toPerson));
  const approvals = snapshot.approvals.map(({ id, decision, actor_type, actor_id, actor_name, person, person_name, occurred_at, comment, state_digest }) => ({
    id,
    decision,
    by: toPerson({ type: actor_type, id: actor_id, name: actor_name, person, person_name }),
    at: occurred_at.toISOString(),
    comment,
    state_sha256: state_digest,
  }));
  const due: Date | number = item.due_at;
  return {
    schema: EVIDENCE_SCHEMA_ID,
    renderer: RENDERER,
    package_id: row.id,
    sequence: row.sequence,
    earlier: snapshot.earlier,
    log: { origin: log.origin, epoch: log.epoch, started_at: log.createdAt.toISOString() },
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
      created_by: snapshot.createdBy,
      closed_at: item.closed_at?.toISOString() ?? null,
      follows: item.follows,
    },
    as_of: asOf.toISOString(),
    generated_at: generatedAt.toISOString(),
    generator: { name: 'Remediation Risk Service', version, build_sha256: build },
    clock: { database_offset_ms: snapshot.clockOffset },
    frameworks: snapshot.frameworks,
    requested_by: toPerson(row.requested_by as StoredActor),
    note: row.note,
    policies: snapshot.policies,
    people: snapshot.people,
    ownerless_keys: snapshot.ownerlessKeys,
    assets: snapshot.assets,
    sources,
    findings,
    unlinked,
    scans,
    artifacts,
    approvals,
    collection: collectionOf(scans, artifacts, capturesOf(snapshot.artifacts)),
    redactions: snapshot.artifacts.flatMap(redactionsOf),
    audit_trail: snapshot.trail.summary,
    abandoned_leaves: snapshot.abandoned.map(({ index, leaf_hash }) => ({ index, leaf_sha256: leaf_hash.toString('hex') })),
    timestamped,
    witnessed,
    formats,
  };
}

/** The originals of scans that confirm nothing are left out, and those that somebody deleted, even if their bytes are still stored. */
function buildScans({ scans, findings }: Snapshot, storedReports: ReadonlySet<string>): Scan[] {
  const after = new Set(findings.flatMap((finding) => (finding.after.state === 'absent' ? scansAfter(finding) : [])));
  const before = new Set(findings.map((finding) => finding.before.scan));
  const known = new Set(findings.flatMap(({ weakness, cves }) => [weakness, ...cves]));
  return scans.map(({ is_deleted, ...scan }) => {
    const phase = after.has(scan.id) ? 'after' : before.has(scan.id) ? 'before' : 'other';
    return {
      ...scan,
      phase,
      names: scan.names.filter((name) => known.has(name)),
      file: phase !== 'other' && !is_deleted && storedReports.has(scan.sha256) ? `data/scans/${phase}/${scan.id}/report` : null,
    };
  });
}

function buildArtifact(row: ArtifactRow, toPerson: ToPerson): Artifact {
  const { removal } = row;
  const captured = row.sha256 !== null && removal === null;
  return {
    id: row.id,
    type: row.type,
    title: row.title,
    description: row.description,
    occurred_at: row.occurred_at?.toISOString() ?? null,
    added_at: row.added_at.toISOString(),
    added_by: toPerson(row.added_by as StoredActor),
    url: row.url,
    filename: row.filename,
    media_type: row.media_type,
    size: row.size === null ? null : Number(row.size),
    sha256: row.sha256,
    captured: row.capture !== null,
    file: captured ? `data/artifacts/${row.id}/content` : null,
    superseded_by: row.superseded_by,
    removed: removal && { at: removal.removed_at, by: toPerson(removal.removed_by), reason: removal.reason },
  };
}

function capturesOf(artifacts: readonly ArtifactRow[]): Map<string, Capture> {
  return new Map(artifacts.flatMap(({ id, capture }) => (capture ? [[id, { source: capture.url, at: capture.captured_at }]] : [])));
}

function redactionsOf({ id, redactions }: ArtifactRow): Redaction[] {
  const file = `data/artifacts/${id}/content`;
  return (redactions as { pointer: string; reason: string }[]).map(({ pointer, reason }) => ({ file, pointer, reason }));
}
