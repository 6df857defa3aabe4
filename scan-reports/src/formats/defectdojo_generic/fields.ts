import type { Obj } from '../../shared/read.ts';

/** Field names as they are compared: without case, spaces and underscores. CSV and JSON then have the same names. */
export function fieldName(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_]/g, '');
}

/** Fields that files of the service's own generic format have too. */
const SHARED = ['title', 'severity', 'description', 'references', 'tags', 'cwes', 'vulnerability_ids', 'url', 'line'].map(fieldName);

/** Fields that only a file of DefectDojo has. */
const OWN = [
  'date',
  'cwe',
  'CweId',
  'cve',
  'Vulnerability Id',
  'cvssv3',
  'cvssv3_score',
  'cvssv4',
  'cvssv4_score',
  'epss_score',
  'epss_percentile',
  'known_exploited',
  'ransomware_used',
  'kev_date',
  'fix_available',
  'fix_version',
  'mitigation',
  'impact',
  'steps_to_reproduce',
  'severity_justification',
  'active',
  'verified',
  'false_p',
  'FalsePositive',
  'duplicate',
  'out_of_scope',
  'risk_accepted',
  'under_review',
  'is_mitigated',
  'mitigated',
  'MitigatedDate',
  'numerical_severity',
  'param',
  'payload',
  'file_path',
  'component_name',
  'component_version',
  'static_finding',
  'dynamic_finding',
  'scanner_confidence',
  'unique_id_from_tool',
  'vuln_id_from_tool',
  'sast_source_object',
  'sast_sink_object',
  'sast_source_line',
  'sast_source_file_path',
  'nb_occurences',
  'thread_id',
  'publish_date',
  'service',
  'planned_remediation_date',
  'planned_remediation_version',
  'effort_for_fixing',
  'endpoints',
  'files',
].map(fieldName);

export function isKnown(name: string): boolean {
  return isOwn(name) || SHARED.includes(fieldName(name));
}

export function isOwn(name: string): boolean {
  return OWN.includes(fieldName(name));
}

/** Names that the CSV columns use for fields of the JSON. */
const CSV_NAMES: Readonly<Record<string, string>> = {
  cweid: 'cwe',
  falsepositive: 'falsep',
  mitigateddate: 'mitigated',
  vulnerabilityid: 'vulnerabilityids',
  url: 'endpoints',
};

/** A record by field name, without empty values. */
export function recordOf(given: Obj): Obj {
  const fields: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(given)) {
    const field = fieldName(name);
    if (value !== null && value !== '') fields[CSV_NAMES[field] ?? field] = value;
  }
  return fields;
}
