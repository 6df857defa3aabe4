import type { Approval, Control, Evidence } from '../../../document/evidence.ts';
import { describe } from '../dispositions.ts';
import { groupedBy, mapped } from '../sequences.ts';
import { outcomesOf } from '../words/conclusion.ts';
import { observations, relatedObservations } from './observations.ts';
import { findingProps, inventory, line, list, metadata, NAMESPACE, oscalId, outcomeOf, props } from './parts.ts';
import { resources } from './resources.ts';
import { risks } from './risks.ts';

/** OSCAL 1.2.1 assessment results with one result: the comparison of the scans before and after the fix. */
export function oscalAssessmentResults(evidence: Evidence) {
  const { package_id, work_item, conclusion, completeness, findings } = evidence;
  const plan = oscalId('work-item', work_item.id);
  return {
    'assessment-results': {
      uuid: oscalId('assessment-results', package_id),
      metadata: metadata(evidence, 'Remediation evidence'),
      'import-ap': { href: `#${plan}` },
      results: [
        {
          uuid: oscalId('result', package_id),
          title: `Conclusion: ${conclusion}`,
          description: outcomesOf(evidence).join('\n'),
          start: work_item.created_at,
          end: evidence.as_of,
          props: props({ conclusion, grade: completeness.grade, gap: completeness.gaps.map(({ code }) => code) }),
          ...(findings.length === 0 ? {} : { 'local-definitions': { 'inventory-items': inventory(evidence) } }),
          'reviewed-controls': reviewedControls(evidence.controls),
          ...list('attestations', evidence.approvals.map(attestation)),
          ...(findings.length === 0 ? {} : { observations: observations(evidence), risks: risks(evidence), findings: findingResults(evidence) }),
        },
      ],
      'back-matter': { resources: [planResource(plan, evidence), ...resources(evidence)] },
    },
  };
}

function findingResults(evidence: Evidence) {
  const related = relatedObservations(evidence);
  return mapped(evidence.findings, (finding) => {
    const { objective } = describe(finding);
    return {
      uuid: oscalId('finding', finding.id),
      title: line(finding.title),
      description: `${line(finding.weakness)} on ${line(finding.asset.name)}: ${outcomeOf(finding)}.`,
      props: props(findingProps(finding)),
      target: {
        type: 'objective-id',
        'target-id': 'weakness-is-gone',
        status: {
          state: objective,
          reason: objective === 'satisfied' ? 'pass' : finding.standing === 'active' ? 'fail' : 'other',
          remarks: outcomeOf(finding),
        },
      },
      'related-observations': related(finding),
      'related-risks': [{ 'risk-uuid': oscalId('risk', finding.id) }],
    };
  });
}

function planResource(uuid: string, { work_item }: Evidence) {
  const description = 'The work item serves as the assessment plan. It states what was to be remediated.';
  return { uuid, title: line(work_item.title), description, rlinks: [{ href: '../evidence.json', 'media-type': 'application/json' }] };
}

function reviewedControls(controls: readonly Control[]) {
  const description = 'What this package says about each control. The assessor decides which evidence counts.';
  // OSCAL requires at least one control. Selecting all controls would be a claim, so a placeholder says that there is none.
  if (controls.length === 0)
    return { description, 'control-selections': [{ description: 'No control is addressed.', 'include-controls': [{ 'control-id': 'none-proposed' }] }] };
  return {
    description,
    'control-selections': [...groupedBy(controls, ({ framework }) => framework)].map(([framework, its]) => ({
      description: line(framework),
      props: its.flatMap(({ control, verdict }) => props({ [verdict.replaceAll('_', '-')]: controlId(framework, control) })),
      'include-controls': its.map(({ control }) => ({ 'control-id': controlId(framework, control) })),
    })),
  };
}

/** OSCAL control ids are tokens. NIST SP 800-53 ids are used in lower case; other ids get their framework as a prefix. */
function controlId(framework: string, control: string): string {
  const token = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replace(/[^a-z0-9.]+/g, '-');
  return framework.startsWith('NIST SP 800-53') ? token(control) : `_${token(framework)}_${token(control)}`;
}

function attestation({ decision, by, at, comment, state_sha256 }: Approval) {
  const prose = `${by.name} ${decision} the state ${state_sha256} at ${at}.${comment === null ? '' : ` ${comment}`}`;
  return { parts: [{ name: 'approval', ns: NAMESPACE, title: decision, prose }] };
}
