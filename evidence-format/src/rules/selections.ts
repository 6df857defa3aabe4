import type { Selection, TrailEvent } from '../document/decisions.ts';
import type { Identities } from './identities.ts';
import { fieldOf, textOf } from './trail-values.ts';

const MOST = 200;

/** Collects from the audit trail how findings got into the work item. */
export function collectSelections(identities: Identities, workItemId: string) {
  const selections: Selection[] = [];
  return {
    add({ action, actor, object, after, at }: TrailEvent, seq: number): void {
      if (action !== 'work_item.findings_linked' || object.id !== workItemId || selections.length === MOST) return;
      const linked = fieldOf(after, 'linked');
      selections.push({
        trail_seq: seq,
        at,
        by: { person: actor.person, name: identities.nameOf(actor.person, actor.name) },
        linked: typeof linked === 'number' ? linked : 0,
        filter: fieldOf(after, 'filter') ?? null,
        reason: textOf(after, 'reason'),
      });
    },
    selections: (): Selection[] => selections,
  };
}
