import type { Evidence } from '../../../document/evidence.ts';
import type { Finding } from '../../../document/finding.ts';
import { describe } from '../dispositions.ts';
import { mapped } from '../sequences.ts';
import { relatedObservations } from './observations.ts';
import { findingProps, line, list, NAMESPACE, oscalId, outcomeOf, props } from './parts.ts';

export function risks(evidence: Evidence) {
  const related = relatedObservations(evidence);
  const actor = { type: 'party', 'actor-uuid': oscalId('organization', evidence.organization.id) };
  return mapped(evidence.findings, (finding) => ({
    uuid: oscalId('risk', finding.id),
    title: line(finding.title),
    description: `${line(finding.weakness)} on ${line(finding.asset.name)}${finding.component === null ? '' : ` in ${line(finding.component)}`}.`,
    statement: `Severity ${finding.severity}, highest severity by a source ${finding.severity_source}, risk score ${finding.risk_score} of 100.`,
    props: props({ ...findingProps(finding), cve: finding.cves, 'within-sla': finding.within_sla }),
    status: describe(finding).risk,
    characterizations: [{ origin: { actors: [actor] }, facets: facets(finding) }],
    ...(finding.due_at === null ? {} : { deadline: finding.due_at }),
    ...list('mitigating-factors', mitigatingFactors(finding)),
    ...list('remediations', remediations(finding)),
    'risk-log': { entries: [logEntry(finding)] },
    'related-observations': related(finding),
  }));
}

function facets({ severity, severity_source, risk_score, cvss }: Finding) {
  const own = { severity, 'severity-source': severity_source, 'risk-score': risk_score };
  return [
    ...Object.entries(own).map(([name, value]) => ({ name, system: NAMESPACE, value: String(value) })),
    ...(cvss === null ? [] : [{ name: 'cvss-vector', system: `http://www.first.org/cvss/v${line(cvss.version)}`, value: line(cvss.vector) }]),
  ];
}

/** The control that somebody named when the risk was accepted. */
function mitigatingFactors({ id, acceptance }: Finding) {
  const description = acceptance?.compensating_control ?? null;
  return description === null ? [] : [{ uuid: oscalId('mitigating-factor', id), description }];
}

function remediations(finding: Finding) {
  const { remediation: lifecycle } = describe(finding);
  if (lifecycle === null) return [];
  const { id, fixed_version, component } = finding;
  const title = line(fixed_version === null ? 'Fix the weakness' : `Update ${component ?? 'the component'} to ${fixed_version}`);
  return [{ uuid: oscalId('remediation', id), lifecycle, title, description: title }];
}

function logEntry(finding: Finding) {
  const { id, state_reason, state_changed_at, decided_by, justification, acceptance } = finding;
  return {
    uuid: oscalId('risk-log', `${id}:${state_changed_at}`),
    title: outcomeOf(finding),
    description: state_reason ?? '',
    start: state_changed_at,
    'status-change': describe(finding).risk,
    ...list(
      'props',
      props({
        by: decided_by?.name ?? null,
        justification,
        'acceptance-owner': acceptance?.owner ?? null,
        'acceptance-expires': acceptance?.expires_at ?? null,
        'acceptance-approved-by': acceptance?.approved_by?.name ?? null,
      }),
    ),
  };
}
