import type { Approval, Control, FindingState } from '@rrs/evidence-format';
import type { ReportedEvidence } from '../context.ts';
import { inventory, line, list, metadata, observations, oscalId, props, relatedObservations, resources, risks } from './oscal.ts';

/** OSCAL 1.2.1 assessment results with one result: the comparison of the scans before and after the fix. */
export function oscalAssessmentResults(evidence: ReportedEvidence) {
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
          title: `Conclusion: ${conclusion.status}`,
          description: conclusion.reasons.join('\n'),
          start: work_item.created_at,
          end: evidence.as_of,
          props: props({ conclusion: conclusion.status, completeness: completeness.grade, gap: completeness.gaps.map(({ code }) => code) }),
          ...(findings.length === 0 ? {} : { 'local-definitions': { 'inventory-items': inventory(findings) } }),
          'reviewed-controls': reviewedControls(evidence.controls),
          ...list('attestations', evidence.approvals.map(attestation)),
          ...(findings.length === 0 ? {} : { observations: observations(evidence), risks: risks(evidence), findings: findingResults(evidence) }),
        },
      ],
      'back-matter': { resources: [planResource(plan, evidence), ...resources(evidence)] },
    },
  };
}

function findingResults(evidence: ReportedEvidence) {
  const related = relatedObservations(evidence);
  return evidence.findings.values().map((finding) => ({
    uuid: oscalId('finding', finding.id),
    title: line(finding.title),
    description: `${line(finding.weakness)} on ${line(finding.asset.name)} is ${finding.state}.`,
    props: props({ 'finding-id': finding.id, state: finding.state, assurance: finding.assurance }),
    target: {
      type: 'objective-id',
      'target-id': 'weakness-is-gone',
      status: { state: objectiveState(finding.state), reason: 'other', remarks: finding.state },
    },
    'related-observations': related(finding),
    'related-risks': [{ 'risk-uuid': oscalId('risk', finding.id) }],
  }));
}

/** The weakness of an accepted risk still exists, and a withdrawn finding was never proven fixed. */
function objectiveState(state: FindingState): 'satisfied' | 'not-satisfied' {
  return state === 'verified' || state === 'false_positive' ? 'satisfied' : 'not-satisfied';
}

function planResource(uuid: string, { work_item }: ReportedEvidence) {
  const description = 'The work item serves as the assessment plan. It states what was to be remediated.';
  return { uuid, title: line(work_item.title), description, rlinks: [{ href: '../evidence.json', 'media-type': 'application/json' }] };
}

function reviewedControls(controls: readonly Control[]) {
  const description = 'Suggestions. The assessor decides which evidence counts for which control.';
  // OSCAL requires at least one control. Selecting all controls would be a claim, so a placeholder says that there is none.
  if (controls.length === 0)
    return { description, 'control-selections': [{ description: 'No control is suggested.', 'include-controls': [{ 'control-id': 'none-proposed' }] }] };
  return {
    description,
    'control-selections': [...Map.groupBy(controls, ({ framework }) => framework)].map(([framework, its]) => ({
      description: line(framework),
      'include-controls': its.map(({ control }) => ({ 'control-id': controlId(framework, control) })),
    })),
  };
}

/** OSCAL control ids are tokens. NIST SP 800-53 ids are used in lower case; other ids get their framework as a prefix. */
function controlId(framework: string, control: string): string {
  const token = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}.]+/gu, '-');
  return framework.startsWith('NIST SP 800-53') ? token(control) : `_${token(framework)}_${token(control)}`;
}

function attestation({ decision, by, at, comment }: Approval) {
  const prose = `${by.name} ${decision} the work at ${at}.${comment === null ? '' : ` ${comment}`}`;
  return { parts: [{ name: 'approval', ns: 'https://rrs.example/ns/oscal', title: decision, prose }] };
}
