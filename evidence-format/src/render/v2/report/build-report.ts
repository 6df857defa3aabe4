import type { Evidence } from '../../../document/evidence.ts';
import type { RenderContext } from '../context.ts';
import { clipped } from '../words/printable.ts';
import { coverOf } from './cover.ts';
import { LENGTH } from './limits.ts';
import type { Report } from './model.ts';
import { namesOf } from './names.ts';
import { artifactsSection } from './sections/artifacts.ts';
import { exceptionsSection } from './sections/exceptions.ts';
import { findingsSection } from './sections/findings.ts';
import { controlsSection, gapsSection } from './sections/gaps.ts';
import { glossarySection, methodSection, verifySection } from './sections/method.ts';
import { approvalsSection, peopleSection } from './sections/people.ts';
import { policySection, severitySection } from './sections/policy.ts';
import { populationSection } from './sections/population.ts';
import { registerSection } from './sections/register.ts';
import { scansSection } from './sections/scans.ts';
import { scopeSection } from './sections/scope.ts';
import { timelineSection } from './sections/timeline.ts';

/** Builds the content of the PDF and HTML reports. */
export function buildReport(evidence: Evidence, context: RenderContext): Report {
  const names = namesOf(evidence);
  return {
    title: `Remediation evidence, package ${evidence.package_id}`,
    lang: 'en',
    packageId: evidence.package_id,
    organization: clipped(evidence.organization.name, LENGTH.name),
    generatedAt: evidence.generated_at,
    producer: `${evidence.generator.name} ${evidence.generator.version}`,
    mark: 'Confidential',
    cover: coverOf(evidence, context),
    sections: [
      registerSection(evidence, names),
      gapsSection(evidence, names),
      scopeSection(evidence, names),
      methodSection(),
      controlsSection(evidence),
      populationSection(evidence, names),
      findingsSection(evidence, names),
      exceptionsSection(evidence, names),
      scansSection(evidence, names),
      policySection(evidence),
      severitySection(evidence, names),
      artifactsSection(evidence, names),
      approvalsSection(evidence, names),
      peopleSection(evidence, names),
      timelineSection(evidence, names),
      verifySection(evidence, context),
      glossarySection(),
    ],
  };
}
