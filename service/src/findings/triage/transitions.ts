import type { OrganizationPolicy } from '../../organizations/policy.ts';
import type { Actor } from '../../shared/actor.ts';
import { permissionLacking } from '../../shared/permissions.ts';
import type { FindingRow } from '../fields/field.ts';
import { mergedInto } from '../list/list.ts';
import { allowed, type Status } from '../status.ts';
import { refusedTo } from './decide.ts';
import { type neededFields, neededFor } from './needed.ts';

interface Transition {
  to: Status;
  needs: (typeof neededFields)[number][];
  requests_approval: boolean;
  refused: string | null;
}

type Movable = Pick<FindingRow, 'status' | 'status_changed_by' | 'merged_into'>;

/** The statuses that people can move the finding to, with what each requires and why this person cannot. A change applies the same rules. */
export function transitionsOf(finding: Movable, actor: Actor, { four_eyes }: Pick<OrganizationPolicy, 'four_eyes'>): Transition[] {
  const refused = permissionLacking(actor.role, 'findings:triage') ?? mergedInto(finding);
  return allowed(finding.status, 'person').map((to) => ({
    to,
    needs: neededFor(finding.status, to).map(([name]) => name),
    requests_approval: four_eyes && to === 'risk_accepted',
    refused: refused ?? refusedTo(finding, to, actor),
  }));
}
