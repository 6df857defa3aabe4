import { CONCLUSIONS, GRADES } from '@rrs/evidence-format';
import { Type } from 'typebox';
import { Named, Nullable, OneOf } from '../http/schemas.ts';
import { idOf, timeOf } from './schemas.ts';
import { packageStatuses } from './schemas-packages.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });
const bytes = Type.Integer({ minimum: 0, description: 'Total size of the ZIP files in bytes.', examples: [482_113] });
const packagesWith = <const Key extends string>(property: string, keys: readonly Key[]) => {
  const entries = keys.map((key) => [key, count(`Number of packages with ${property} \`${key}\`.`)]);
  return Object.fromEntries(entries) as Record<Key, ReturnType<typeof count>>;
};
const milliseconds = (description: string) => Nullable(Type.Integer({ minimum: 0, description, examples: [840] }));

export const EvidenceStats = Named('EvidenceStats', {
  total: count('Number of packages.'),
  by_status: Named('PackagesByStatus', packagesWith('status', packageStatuses), { description: 'Packages by status.' }),
  by_grade: Named('PackagesByGrade', packagesWith('grade', GRADES), { description: 'Ready packages by completeness grade.' }),
  bytes,
  per_month: Type.Array(
    Type.Object({
      month: Type.String({ pattern: '^[0-9]{4}-[0-9]{2}$', description: 'Calendar month in UTC.', examples: ['2026-11'] }),
      packages: count('Number of packages generated in the month.'),
      bytes,
    }),
    { description: 'Packages generated in the last 12 months, oldest month first.' },
  ),
  work_items: Named(
    'EvidenceCoverage',
    {
      closed: count('Number of work items that are verified or closed with exceptions.'),
      with_ready_package: count('Number of closed work items with a package that is not superseded.'),
      without: count('Number of closed work items without such a package.'),
      coverage: Nullable(
        Type.Number({
          minimum: 0,
          maximum: 1,
          description: 'Share of closed work items with such a package, from 0 to 1. Null if no work item is closed.',
          examples: [0.98],
        }),
      ),
    },
    { description: 'Evidence coverage of closed work items.' },
  ),
  generation_ms: Named(
    'EvidenceGenerationTime',
    { median: milliseconds('Median in milliseconds. Null without packages.'), p95: milliseconds('95th percentile in milliseconds. Null without packages.') },
    { description: 'Time from the request to the finished package.' },
  ),
  verifications: Named(
    'EvidenceVerifications',
    { total: count('Number of verifications.'), failed: count('Number of verifications with a verdict other than `verified`.') },
    { description: 'Verifications of your packages by this service.' },
  ),
  downloads: count('Number of downloads, including partial downloads and downloads with share links.'),
  last_package: Nullable(
    Type.Object(
      {
        package_id: idOf('the evidence package'),
        work_item_id: idOf('the work item'),
        generated_at: timeOf('When the package was generated.'),
        conclusion: OneOf(CONCLUSIONS, { description: 'Conclusion of the package.' }),
        grade: OneOf(GRADES, { description: 'Completeness grade of the package.' }),
      },
      { title: 'LastEvidencePackage', description: 'The most recently generated package. Null if there is none.' },
    ),
  ),
});
