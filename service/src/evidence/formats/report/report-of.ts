import type { ReportContext, ReportedEvidence } from '../context.ts';
import { coverOf } from './cover.ts';
import { exceptionsSection, findingsSection } from './findings.ts';
import { labelsOf } from './labels.ts';
import type { Report } from './report.ts';
import { approvalsSection, artifactsSection, controlsSection, gapsSection, scansSection, timelineSection, verifySection } from './sections.ts';

/** What the readable reports say, whatever they are printed on. */
export function reportOf(evidence: ReportedEvidence, context: ReportContext): Report {
  const labels = labelsOf(evidence);
  return {
    title: `Remediation evidence: ${evidence.work_item.title}`,
    lang: 'en',
    packageId: evidence.package_id,
    organization: evidence.organization.name,
    generatedAt: evidence.generated_at,
    producer: `${evidence.generator.name} ${evidence.generator.version}`,
    cover: coverOf(evidence, labels),
    sections: [
      findingsSection(evidence, labels),
      exceptionsSection(labels),
      timelineSection(context),
      approvalsSection(evidence),
      artifactsSection(evidence, labels),
      scansSection(evidence, labels),
      controlsSection(evidence),
      gapsSection(evidence, labels),
      verifySection(evidence, context),
    ],
  };
}
