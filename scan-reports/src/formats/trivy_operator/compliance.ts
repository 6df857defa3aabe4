import type { Observation } from '../../contract.ts';
import { observation, required, severityOf } from '../../shared/normalize.ts';
import { num, type Obj, str, strs } from '../../shared/read.ts';
import { type Resource, withoutTemplateHash } from './resource.ts';

/** A failed check of a control in a ClusterComplianceReport with reportType "all". A control without failures has one empty check. */
export function complianceCheck(check: Obj, place: string, control: Obj, resource: Resource): Observation | null {
  if (check.success === true) return null;
  const number = str(control.id);
  const target = workloadOf(str(check.target));
  const severity = str(check.severity) ?? str(control.severity);
  const rule = required(str(check.checkID) ?? number, 'checkID');
  return observation({
    place,
    tool: 'trivy',
    rule,
    title: str(check.title) ?? str(control.name) ?? `Check ${rule}`,
    description: [controlText(control), str(check.description), ...strs(check.messages)].filter(Boolean).join('\n\n'),
    solution: str(check.remediation),
    severity: severityOf(severity),
    tool_severity: severity,
    asset: target ? { type: 'cloud_resource', name: target } : null,
    // One check may fail under several controls.
    location: { resource: [target, number ? `control ${number}` : undefined].filter(Boolean).join(' ') },
    last_seen: resource.updated ?? null,
    tags: ['compliance', ...(number ? [`control ${number}`] : [])],
  });
}

/** With reportType "summary", and in older reports, a control has only its number of failures. */
export function complianceControl(control: Obj, place: string, resource: Resource): Observation | null {
  const failures = num(control.totalFail) ?? num(control.failTotal) ?? 0;
  if (failures < 1 || resource.isDetailed) return null;
  const number = required(str(control.id), 'id');
  return observation({
    place,
    tool: 'trivy',
    rule: number,
    title: str(control.name) ?? `Control ${number}`,
    description: [str(control.description), `${failures} failed`].filter(Boolean).join('\n\n'),
    severity: severityOf(str(control.severity)),
    tool_severity: str(control.severity),
    last_seen: resource.updated ?? null,
    tags: ['compliance'],
  });
}

/** Reads "shop/replicaset-web-965685897", or "/clusterrole-admin" for a resource without a namespace. */
function workloadOf(target: string | undefined): string | undefined {
  const name = target?.replace(/^\/+/, '');
  return name && /(?:^|\/)replicaset-/.test(name) ? withoutTemplateHash(name) : name;
}

function controlText(control: Obj): string | undefined {
  return [str(control.id), str(control.name)].filter(Boolean).join(' ') || undefined;
}
