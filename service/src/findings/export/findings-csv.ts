import { csvColumns } from '../fields/derive.ts';
import { type Columns, headerRow, row } from './csv.ts';
import type { ExportedFinding, Pages } from './export.ts';

/** The declared columns, and those that only exports have. */
const columns: Columns<ExportedFinding> = {
  ...csvColumns,
  description: ({ description }) => description,
  solution: ({ solution }) => solution,
  references: ({ references }) => references,
  ecosystem: ({ location }) => location.ecosystem,
  source_package: ({ location }) => location.source_package,
  layer: ({ location }) => location.layer,
  fingerprint: ({ location }) => location.fingerprint,
  snippet: ({ location }) => location.snippet,
  occurrence_count: ({ occurrence_count }) => occurrence_count,
  places: ({ occurrences }) => [...new Set(occurrences.filter(({ state }) => state === 'present').map(({ place }) => place))],
  occurrences: ({ occurrences }) => JSON.stringify(occurrences),
};

export async function* writeCsv(pages: Pages): AsyncGenerator<string> {
  yield headerRow(columns);
  for await (const page of pages) yield page.map((finding) => row(columns, finding)).join('');
}
