import type { TrailEvent } from '../document/decisions.ts';
import type { Person } from '../document/people.ts';
import type { Credentials } from './credentials.ts';
import type { Identities } from './identities.ts';
import { fieldOf } from './trail-values.ts';

/** Artifacts that document the change itself. Whoever adds one counts as having done the work. */
export const CHANGE_ARTIFACTS: ReadonlySet<string> = new Set(['pull_request', 'commit', 'configuration']);

/** Whoever did the work: was ever its assignee, claimed a finding as fixed, moved the work forward or added the change. */
export interface Workers {
  /** Also true for somebody whose credential was made by a worker, who can sign in with it, and for somebody who can sign in as a worker. */
  has(by: Person | null): boolean;
  /** The identities of those who did something, without assignees who are known by name only. */
  persons: ReadonlySet<string>;
}

const WORKING: ReadonlySet<unknown> = new Set(['in_progress', 'awaiting_verification']);
const CLAIMING: ReadonlySet<unknown> = new Set(['in_progress', 'remediated']);

/** Collects the workers from the events of the audit trail, one at a time. */
export function collectWorkers(identities: Identities, workItemId: string) {
  const persons = new Set<string>();
  const names = new Set<string>();
  const add = (identity: string | null): unknown => identity !== null && persons.add(identity);
  const addAssignee = (side: unknown): void => {
    const [member, name] = [fieldOf(side, 'assignee_member_id'), fieldOf(side, 'assignee')];
    if (typeof member === 'string') add(identities.of({ kind: 'member', id: member, name: '', person: member }));
    if (typeof name === 'string') names.add(name.toLowerCase());
  };
  return {
    add({ action, actor, object, before, after }: TrailEvent): void {
      const isItem = object.type === 'work_item' && object.id === workItemId;
      if (isItem) {
        addAssignee(before);
        addAssignee(after);
      }
      const worked =
        (isItem && action === 'work_item.status_changed' && WORKING.has(fieldOf(after, 'status')) && !followsFindings(after)) ||
        (object.type === 'finding' && CLAIMING.has(fieldOf(after, 'status'))) ||
        (action === 'artifact.added' && CHANGE_ARTIFACTS.has(String(fieldOf(after, 'type'))));
      if (worked) add(identities.ofActor(actor));
    },
    workers(assignee: string | null, credentials: Credentials): Workers {
      if (assignee !== null) names.add(assignee.toLowerCase());
      return {
        persons,
        has: (by) =>
          by !== null &&
          (identities.behind(identities.of(by)).some((identity) => persons.has(identity)) ||
            names.has(by.name.toLowerCase()) ||
            credentials.areShared(by, persons)),
      };
    },
  };
}

/** Whether the status followed from the findings. Then the event names whoever uploaded the scan, who did not do the work. */
function followsFindings(after: unknown): boolean {
  return fieldOf(after, 'findings') !== undefined;
}
