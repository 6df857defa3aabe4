import { isClosed } from '../../../findings/status.ts';
import type { ReportedEvidence } from '../context.ts';
import { inventory, line, metadata, observations, oscalId, props, relatedObservations, resources, risks } from './oscal.ts';

/** OSCAL 1.2.1 plan of action and milestones, with one item per finding. OSCAL requires at least one item. */
export function oscalPoam(evidence: ReportedEvidence) {
  const related = relatedObservations(evidence);
  return {
    'plan-of-action-and-milestones': {
      uuid: oscalId('poam', evidence.package_id),
      metadata: metadata(evidence, 'Plan of action and milestones'),
      'system-id': { 'identifier-type': 'https://ietf.org/rfc/rfc4122', id: evidence.organization.id },
      'local-definitions': { 'inventory-items': inventory(evidence.findings) },
      observations: observations(evidence),
      risks: risks(evidence),
      'poam-items': evidence.findings.values().map((finding) => ({
        uuid: oscalId('poam-item', finding.id),
        title: line(finding.title),
        description: `${line(finding.weakness)} on ${line(finding.asset.name)}.`,
        props: props({
          'finding-id': finding.id,
          state: finding.state,
          open: !isClosed(finding.state),
          'due-at': finding.due_at,
          'closed-at': finding.closed_at,
        }),
        'related-observations': related(finding),
        'related-risks': [{ 'risk-uuid': oscalId('risk', finding.id) }],
      })),
      ...backMatter(evidence),
    },
  };
}

function backMatter(evidence: ReportedEvidence) {
  const all = resources(evidence);
  return all.length === 0 ? {} : { 'back-matter': { resources: all } };
}
