import type { Finding } from '@rrs/evidence-format';
import type { SarifFinding } from '../../findings/export/sarif.ts';
import type { VexFinding } from '../../findings/export/vex.ts';

/** A finding of the package as the exports of findings take it. */
export function asExported(finding: Finding): VexFinding & SarifFinding {
  const { component, component_version, fixed_version, purl } = finding;
  return {
    ...finding,
    description: null,
    solution: null,
    vulnerability_ids: finding.cves,
    location: { component, version: component_version, fixed_version, purl, path: null, line: null, end_line: null, url: null },
    status: finding.state,
    status_reason: finding.state_reason,
    status_changed_at: finding.state_changed_at,
    updated_at: finding.state_changed_at,
    tags: [],
  };
}
