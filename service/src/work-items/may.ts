import type { TenantTx } from '../db/database.ts';
import type { Actor } from '../shared/actor.ts';
import { permissionLacking } from '../shared/permissions.ts';
import { approvalRefused, decisionRefused } from './approvals/approvals.ts';
import { findingsFixed, type WorkItemRow } from './items/read.ts';
import { type Transition, transitionsOf } from './items/transitions.ts';
import { pushRefused } from './tickets/tickets.ts';

/** What the actor may do with a work item: null, or why not. */
interface Allowances {
  update: string | null;
  change_findings: string | null;
  push_ticket: string | null;
  approve: string | null;
  reject: string | null;
}

/** What the actor may do with the work item. The operations apply the same rules. */
export async function allowancesOf(tx: TenantTx, actor: Actor, item: WorkItemRow): Promise<{ may: Allowances; transitions: Transition[] }> {
  const lacking = permissionLacking(actor.role, 'work_items:manage');
  const reject = lacking ?? decisionRefused(item);
  return {
    may: {
      update: lacking,
      change_findings: lacking ?? findingsFixed(item),
      push_ticket: lacking ?? pushRefused(item),
      approve: reject ?? (await approvalRefused(tx, actor, item.id)),
      reject,
    },
    transitions: transitionsOf(item).map((transition) => ({ ...transition, refused: lacking ?? transition.refused })),
  };
}
