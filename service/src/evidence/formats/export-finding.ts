import type { Finding } from '@rrs/evidence-format';
import type { SarifFinding } from '../../findings/export/sarif.ts';
import type { VexFinding } from '../../findings/export/vex.ts';

/** Converts a finding of the package to the input of the finding exports. */
export function toExportFinding(finding: Finding): VexFinding & SarifFinding {
  // The places of a package are texts, and exports need locations.
  const { occurrences: _, ...described } = finding;
  const { component, component_version, fixed_version, purl } = finding;
  return {
    ...described,
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
