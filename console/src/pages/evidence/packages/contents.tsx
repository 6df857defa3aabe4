import type { EvidenceDocument } from '@rrs/evidence-format';
import { useQuery } from '@tanstack/react-query';
import { Show } from '../../../parts/states.tsx';
import { fetchFile } from '../fetch-file.ts';
import { StatementSections } from '../verifying/statement-sections.tsx';
import { statementsOf } from '../verifying/statements.ts';
import type { Package } from './package.ts';

/** Controls and the decision register, read from evidence.json. Reading it is recorded as a download. */
export function Contents({ found: { package_id, downloads } }: { found: Package }) {
  const json = downloads.find(({ format }) => format === 'json');
  const statements = useQuery({
    queryKey: ['evidence-document', package_id],
    queryFn: async () => {
      if (json === undefined) throw new Error('The package has no evidence.json.');
      const file = await fetchFile(json, () => {});
      return statementsOf(JSON.parse(await file.text()) as EvidenceDocument);
    },
    // A sealed package never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Show query={statements} rows={8}>
      {(data) => <StatementSections statements={data} />}
    </Show>
  );
}
