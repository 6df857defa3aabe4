import type { ReportContext, ReportedEvidence } from '../context.ts';
import { coverOf } from './cover.ts';
import { exceptionsSection, findingsSection } from './finding-sections.ts';
import { labelsOf } from './labels.ts';
import type { Report } from './report-model.ts';
import { approvalsSection, artifactsSection, controlsSection, gapsSection, scansSection, timelineSection, verifySection } from './sections.ts';

/** Builds the content of the PDF and HTML reports. */
export function buildReport(evidence: ReportedEvidence, context: ReportContext): Report {
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
