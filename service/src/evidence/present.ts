import type { Gap } from '@rrs/evidence-format';
import type { Report } from '@rrs/verifier';
import type { Static } from 'typebox';
import { evidenceFormats } from './formats/formats.ts';
import type { PackageFile, PackageRow } from './packages/packages.ts';
import { folderOf } from './packages/seal.ts';
import { toGap } from './present-gap.ts';
import type { ListedPackage, Package, Verification } from './schemas-packages.ts';

export interface PackageDownload {
  format: Static<typeof Package>['downloads'][number]['format'];
  size: number;
  sha256: string;
  mediaType: string;
  filename: string;
}

/** The downloads of a sealed package: the archive and each format in it. */
export function downloadsOf(row: PackageRow): PackageDownload[] {
  if (row.archive_sha256 === null) return [];
  const folder = folderOf(row);
  const files = new Map((row.files as PackageFile[]).map((file) => [file.path, file]));
  const zip = { format: 'zip' as const, size: Number(row.archive_size), sha256: row.archive_sha256, mediaType: 'application/zip', filename: `${folder}.zip` };
  const single = evidenceFormats.flatMap(({ format, path, mediaType }) => {
    const file = files.get(path);
    return file ? [{ format, size: file.size, sha256: file.sha256, mediaType, filename: `${folder}-${path.slice(path.lastIndexOf('/') + 1)}` }] : [];
  });
  return [zip, ...single];
}

export function toListedPackage(row: PackageRow): Static<typeof ListedPackage> {
  const { archive_sha256, manifest_sha256, tagmanifest_sha256, leaf_hash, log_root, superseded_at } = row;
  type Body = Static<typeof Package>;
  return {
    package_id: row.id,
    work_item_id: row.work_item_id,
    work_item_title: row.work_item_title,
    sequence: row.sequence,
    status: row.status,
    error: row.error,
    conclusion: row.conclusion as Body['conclusion'],
    completeness: row.grade === null ? null : ({ grade: row.grade, gaps: (row.gaps as Gap[]).map(toGap) } as Body['completeness']),
    counts: row.counts as Body['counts'],
    hashes:
      archive_sha256 === null || manifest_sha256 === null || tagmanifest_sha256 === null || leaf_hash === null
        ? null
        : { archive_sha256, manifest_sha256, tagmanifest_sha256, log_leaf_sha256: leaf_hash.toString('hex') },
    signature: row.key_id === null ? null : { key_id: row.key_id, algorithm: 'ES256' },
    log: log_root === null ? null : { index: Number(row.log_index), tree_size: Number(row.log_size), root_hash: log_root.toString('hex') },
    timestamps: row.timestamps as Body['timestamps'],
    witnesses: row.witnesses as Body['witnesses'],
    downloads: downloadsOf(row).map(({ format, size, sha256, mediaType }) => ({
      format,
      url: `/api/v1/riskops-evidence/packages/${row.id}/download?format=${format}`,
      size,
      sha256,
      media_type: mediaType,
      expires_at: null,
    })),
    note: row.note,
    generated_by: row.requested_by as Body['generated_by'],
    requested_at: row.requested_at.toISOString(),
    as_of: row.as_of?.toISOString() ?? null,
    generated_at: row.generated_at?.toISOString() ?? null,
    superseded: superseded_at === null ? null : { at: superseded_at.toISOString(), by: row.superseded_by, reason: row.superseded_reason ?? '' },
    superseded_by: row.superseded_by,
  };
}

export function toPackage(row: PackageRow): Static<typeof Package> {
  return { ...toListedPackage(row), files: row.files as PackageFile[] };
}

export function toVerification(
  { owner, verdict, failures, layers, notes, taken_on_trust, package: summary }: Report,
  superseded: string | null,
): Static<typeof Verification> {
  return {
    owner: owner && { organization_id: owner.organization.id, organization_name: owner.organization.name, origin: owner.origin },
    verdict,
    failures: failures.map(({ code, file, detail, expected, actual }) => ({ code, file, detail, expected: expected ?? null, actual: actual ?? null })),
    layers,
    notes,
    taken_on_trust,
    package_id: summary?.id ?? null,
    superseded,
  };
}
