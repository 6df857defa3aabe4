import { csvCell } from '../../document/csv.ts';
import type { Evidence } from '../../document/evidence.ts';
import type { Finding } from '../../document/finding.ts';
import { dispositionOf } from './dispositions.ts';

type Value = string | number | boolean | null | undefined | readonly (string | number)[];

const columns: Readonly<Record<string, (finding: Finding) => Value>> = {
  id: ({ id }) => id,
  title: ({ title }) => title,
  standing: ({ standing }) => standing,
  disposition: dispositionOf,
  state: ({ state }) => state,
  cause: ({ cause }) => cause,
  state_reason: ({ state_reason }) => state_reason,
  state_changed_at: ({ state_changed_at }) => state_changed_at,
  decided_by: ({ decided_by }) => decided_by?.name,
  claimed_at: ({ claimed_at }) => claimed_at,
  claimed_by: ({ claimed_by }) => claimed_by?.name,
  assurance: ({ assurance }) => assurance,
  provenance: ({ provenance }) => provenance,
  severity: ({ severity }) => severity,
  severity_source: ({ severity_source }) => severity_source,
  override_severity: ({ override }) => override?.severity,
  override_by: ({ override }) => override?.by.name,
  override_at: ({ override }) => override?.at,
  override_reason: ({ override }) => override?.reason,
  risk_score: ({ risk_score }) => risk_score,
  weakness: ({ weakness }) => weakness,
  cves: ({ cves }) => cves,
  cwes: ({ cwes }) => cwes,
  cvss_score: ({ cvss }) => cvss?.score,
  cvss_vector: ({ cvss }) => cvss?.vector,
  epss: ({ epss }) => epss?.score,
  kev: ({ kev }) => kev,
  kev_since: ({ kev_since }) => kev_since,
  asset_id: ({ asset }) => asset.id,
  asset_type: ({ asset }) => asset.type,
  asset_name: ({ asset }) => asset.name,
  component: ({ component }) => component,
  component_version: ({ component_version }) => component_version,
  fixed_version: ({ fixed_version }) => fixed_version,
  fix_published_date: ({ fix_published_date }) => fix_published_date,
  purl: ({ purl }) => purl,
  place: ({ place }) => place,
  first_seen: ({ first_seen }) => first_seen,
  last_seen: ({ last_seen }) => last_seen,
  clock_started_at: ({ clock_started_at }) => clock_started_at,
  due_at: ({ due_at }) => due_at,
  closed_at: ({ closed_at }) => closed_at,
  within_sla: ({ within_sla }) => within_sla,
  before: ({ before }) => before.state,
  before_scan: ({ before }) => before.scan,
  after: ({ after }) => after.state,
  after_scan: ({ after }) => after.scan,
  after_doubts: ({ after }) => after.doubts,
  contradicted_by: ({ contradicted_by }) => contradicted_by,
  suppressed: ({ suppressed }) => suppressed,
  version_rescanned: ({ version_rescanned }) => version_rescanned,
  justification: ({ justification }) => justification,
  acceptance_owner: ({ acceptance }) => acceptance?.owner,
  acceptance_expires_at: ({ acceptance }) => acceptance?.expires_at,
  compensating_control: ({ acceptance }) => acceptance?.compensating_control,
  acceptance_requested_by: ({ acceptance }) => acceptance?.requested_by?.name,
  acceptance_approved_by: ({ acceptance }) => acceptance?.approved_by?.name,
  reopen_count: ({ reopen_count }) => reopen_count,
  work_items: ({ work_items }) => work_items.map(({ id, linked_at, unlinked_at }) => `${id} (${linked_at} to ${unlinked_at ?? 'now'})`),
  merged: ({ merged }) => merged.map(({ id, state }) => `${id} (${state})`),
  sources: ({ sources }) => sources,
  occurrence_count: ({ occurrence_count }) => occurrence_count,
  occurrences: ({ occurrences }) => occurrences.map(({ place, state, source, track }) => `${place} (${state}, ${source}, ${track})`),
};

/** data/findings.csv: one row for each finding of data/findings.jsonl. */
export function* renderCsv({ findings }: Pick<Evidence, 'findings'>): Generator<string> {
  const reads = Object.values(columns);
  yield `${Object.keys(columns).join(',')}\r\n`;
  for (const finding of findings) yield `${reads.map((read) => cell(read(finding))).join(',')}\r\n`;
}

function cell(value: Value): string {
  return csvCell(typeof value === 'object' && value !== null ? value.map(String) : (value ?? null));
}
