import { openVexHead, statementOf } from '../../findings/export/vex.ts';
import type { ReportedEvidence } from './context.ts';
import { toExportFinding } from './export-finding.ts';

/** OpenVEX 0.2.0. A document needs at least one statement. */
export function openVex({ package_id, organization, generated_at, findings }: ReportedEvidence) {
  return { ...openVexHead(package_id, organization.name, generated_at), statements: findings.values().map((finding) => statementOf(toExportFinding(finding))) };
}
