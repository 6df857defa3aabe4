import { type Columns, headerRow, row } from './csv.ts';
import type { ExportedFinding, Pages } from './export.ts';

const columns: Columns<ExportedFinding> = {
  id: ({ id }) => id,
  title: ({ title }) => title,
  status: ({ status }) => status,
  status_reason: ({ status_reason }) => status_reason,
  justification: ({ justification }) => justification,
  severity: ({ severity }) => severity,
  risk_score: ({ risk_score }) => risk_score,
  vulnerability_ids: ({ vulnerability_ids }) => vulnerability_ids,
  cwes: ({ cwes }) => cwes,
  cvss_score: ({ cvss }) => cvss?.score,
  cvss_vector: ({ cvss }) => cvss?.vector,
  epss: ({ epss }) => epss?.score,
  kev: ({ kev }) => kev.listed,
  asset_id: ({ asset }) => asset.id,
  asset_type: ({ asset }) => asset.type,
  asset_name: ({ asset }) => asset.name,
  component: ({ location }) => location.component,
  version: ({ location }) => location.version,
  fixed_version: ({ location }) => location.fixed_version,
  purl: ({ location }) => location.purl,
  path: ({ location }) => location.path,
  line: ({ location }) => location.line,
  port: ({ location }) => location.port,
  url: ({ location }) => location.url,
  sources: ({ sources }) => [...new Set(sources.map(({ provider }) => provider))],
  tags: ({ tags }) => tags,
  first_seen: ({ first_seen }) => first_seen,
  last_seen: ({ last_seen }) => last_seen,
  due_at: ({ due_at }) => due_at,
  overdue: ({ overdue }) => overdue,
  reopen_count: ({ reopen_count }) => reopen_count,
  created_at: ({ created_at }) => created_at,
  updated_at: ({ updated_at }) => updated_at,
  suppressed: ({ suppressed }) => suppressed,
};

export async function* writeCsv(pages: Pages): AsyncGenerator<string> {
  yield headerRow(columns);
  for await (const page of pages) yield page.map((finding) => row(columns, finding)).join('');
}
