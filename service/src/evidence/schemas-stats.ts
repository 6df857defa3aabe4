import { CONCLUSIONS, GRADES } from '@rrs/evidence-format';
import { Type } from 'typebox';
import { Id, Named, Nullable, OneOf, Timestamp } from '../http/schemas.ts';
import { packageStatuses } from './packages/packages.ts';

const count = Type.Integer({ minimum: 0 });
const bytes = Type.Integer({ minimum: 0, description: 'Of the archives', examples: [482_113] });
const each = <const Key extends string>(keys: readonly Key[]) => Object.fromEntries(keys.map((key) => [key, count])) as Record<Key, typeof count>;
const milliseconds = Nullable(Type.Integer({ minimum: 0, examples: [840] }));

export const EvidenceStats = Named('EvidenceStats', {
  total: count,
  by_status: Named('PackagesByStatus', each(packageStatuses)),
  by_grade: Named('PackagesByGrade', each(GRADES), { description: 'Completeness of those that are ready' }),
  bytes,
  per_month: Type.Array(Type.Object({ month: Type.String({ pattern: '^[0-9]{4}-[0-9]{2}$', examples: ['2026-11'] }), packages: count, bytes }), {
    description: 'Generated in the last 12 months in UTC, this one last',
  }),
  work_items: Named('EvidenceCoverage', {
    closed: { ...count, description: 'Verified, or closed with exceptions' },
    with_ready_package: { ...count, description: 'Closed ones with a package that is not superseded' },
    without: count,
    coverage: Nullable(Type.Number({ minimum: 0, maximum: 1, description: 'Null: none is closed', examples: [0.98] })),
  }),
  generation_ms: Named(
    'EvidenceGenerationTime',
    { median: milliseconds, p95: milliseconds },
    { description: 'From the request to the package; null: there is none' },
  ),
  verifications: Named('EvidenceVerifications', { total: count, failed: { ...count, description: 'That ended with another verdict than `verified`' } }),
  downloads: { ...count, description: 'Whole or in part, with share links too' },
  last_package: Nullable(
    Type.Object(
      { package_id: Id, work_item_id: Id, generated_at: Timestamp, conclusion: OneOf(CONCLUSIONS), grade: OneOf(GRADES) },
      { title: 'LastEvidencePackage' },
    ),
  ),
});
