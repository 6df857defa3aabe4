import type { Evidence } from '../../../document/evidence.ts';
import { describe } from '../dispositions.ts';
import { mapped } from '../sequences.ts';
import { observations, relatedObservations } from './observations.ts';
import { findingProps, inventory, line, list, metadata, oscalId, outcomeOf, props } from './parts.ts';
import { resources } from './resources.ts';
import { risks } from './risks.ts';

/** OSCAL 1.2.1 plan of action and milestones, with one item per finding. OSCAL requires at least one item. */
export function oscalPoam(evidence: Evidence) {
  const related = relatedObservations(evidence);
  const known = resources(evidence);
  return {
    'plan-of-action-and-milestones': {
      uuid: oscalId('poam', evidence.package_id),
      metadata: metadata(evidence, 'Plan of action and milestones'),
      'system-id': { 'identifier-type': 'https://ietf.org/rfc/rfc4122', id: evidence.organization.id },
      'local-definitions': { 'inventory-items': inventory(evidence) },
      observations: observations(evidence),
      risks: risks(evidence),
      'poam-items': mapped(evidence.findings, (finding) => ({
        uuid: oscalId('poam-item', finding.id),
        title: line(finding.title),
        description: `${line(finding.weakness)} on ${line(finding.asset.name)}: ${outcomeOf(finding)}.`,
        props: props({ ...findingProps(finding), item: describe(finding).planned, 'due-at': finding.due_at, 'closed-at': finding.closed_at }),
        'related-observations': related(finding),
        'related-risks': [{ 'risk-uuid': oscalId('risk', finding.id) }],
      })),
      ...(known.length === 0 ? {} : { 'back-matter': list('resources', known) }),
    },
  };
}
