import type { Finding } from '@rrs/evidence-format';
import { type Columns, headerRow, row } from '../../findings/export/csv.ts';
import type { ReportedEvidence } from './context.ts';

const columns: Columns<Finding> = {
  id: ({ id }) => id,
  title: ({ title }) => title,
  state: ({ state }) => state,
  state_reason: ({ state_reason }) => state_reason,
  state_changed_at: ({ state_changed_at }) => state_changed_at,
  state_changed_by: ({ state_changed_by }) => state_changed_by,
  assurance: ({ assurance }) => assurance,
  severity: ({ severity }) => severity,
  risk_score: ({ risk_score }) => risk_score,
  weakness: ({ weakness }) => weakness,
  cves: ({ cves }) => cves,
  cwes: ({ cwes }) => cwes,
  cvss_score: ({ cvss }) => cvss?.score,
  cvss_vector: ({ cvss }) => cvss?.vector,
  epss: ({ epss }) => epss?.score,
  kev: ({ kev }) => kev,
  asset_id: ({ asset }) => asset.id,
  asset_type: ({ asset }) => asset.type,
  asset_name: ({ asset }) => asset.name,
  component: ({ component }) => component,
  component_version: ({ component_version }) => component_version,
  fixed_version: ({ fixed_version }) => fixed_version,
  purl: ({ purl }) => purl,
  place: ({ place }) => place,
  first_seen: ({ first_seen }) => first_seen,
  last_seen: ({ last_seen }) => last_seen,
  due_at: ({ due_at }) => due_at,
  closed_at: ({ closed_at }) => closed_at,
  within_sla: ({ within_sla }) => within_sla,
  before: ({ before }) => before.state,
  before_scan: ({ before }) => before.scan,
  after: ({ after }) => after.state,
  after_scan: ({ after }) => after.scan,
  justification: ({ justification }) => justification,
  acceptance_owner: ({ acceptance }) => acceptance?.owner,
  acceptance_expires_at: ({ acceptance }) => acceptance?.expires_at,
  reopen_count: ({ reopen_count }) => reopen_count,
  sources: ({ sources }) => sources,
  occurrence_count: ({ occurrence_count }) => occurrence_count,
  occurrences: ({ occurrences }) => occurrences.map(({ place, state, source, track }) => `${place} (${state}, ${source}, ${track})`),
};

export function* renderCsv({ findings }: ReportedEvidence): Generator<string> {
  yield headerRow(columns);
  for (const finding of findings) yield row(columns, finding);
}
