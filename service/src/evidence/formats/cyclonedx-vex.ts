import { componentOf, cycloneDxHead, vulnerabilityOf } from '../../findings/export/vex.ts';
import type { ReportedEvidence } from './context.ts';
import { toExportFinding } from './export-finding.ts';

/** CycloneDX 1.6. */
export function cycloneDxVex({ package_id, generated_at, findings }: ReportedEvidence) {
  const assets = new Map(findings.map(({ asset }) => [asset.id, asset]));
  return {
    ...cycloneDxHead(package_id, generated_at),
    vulnerabilities: findings.values().map((finding) => vulnerabilityOf(toExportFinding(finding))),
    components: assets.values().map(componentOf),
  };
}
