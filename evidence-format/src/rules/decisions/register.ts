import type { Decision, TrailEvent } from '../../document/decisions.ts';
import type { Approval } from '../../document/evidence.ts';
import { SEVERITIES, type Severity } from '../../document/states.ts';
import { zeros } from '../conclude.ts';
import type { Identities } from '../identities.ts';
import { fieldOf } from '../trail-values.ts';
import { type Act, actsOf, reasonKey } from './kinds.ts';

/** IDs that a decision lists. It counts all of them. */
const LISTED = 20;

interface Group {
  decision: Decision;
  ids: Set<string>;
}

interface RegisterFacts {
  identities: Identities;
  approvals: readonly Approval[];
}

/**
 * Builds the decision register from the events of the audit trail, in order. Acts of one request with the same kind, person and reason are one
 * decision. A request is recognized by its ID or, since its changes are one transaction, by its time.
 */
export function collectDecisions({ identities, approvals }: RegisterFacts) {
  const groups: Group[] = [];
  const byKey = new Map<string, Group>();
  const requested = new Map<string, TrailEvent['actor']>();
  const approvers = new Map(approvals.flatMap(({ by }) => [by.id, by.person].flatMap((id) => (id === null ? [] : [[id, by.person] as const]))));

  const isHuman = ({ type }: TrailEvent['actor']): boolean => type !== 'system' && type !== 'connection';

  function record(event: TrailEvent, seq: number, act: Act): void {
    const { by, second } = whoDecided(event, act);
    const key = [act.kind, by.person ?? by.name, reasonKey(act)];
    const keys = [...(event.request_id === null ? [] : [['request', event.request_id, ...key]]), ['time', event.at, ...key]].map((parts) =>
      JSON.stringify(parts),
    );
    const group = keys.map((each) => byKey.get(each)).find((found) => found !== undefined) ?? open(event, seq, { act, by, second });
    for (const each of keys) byKey.set(each, group);
    for (const id of act.findings) group.ids.add(id);
    group.decision.reason ??= act.reason;
  }

  function open({ at, object, before, after }: TrailEvent, seq: number, { act, by, second }: { act: Act; by: Decision['by']; second: string | null }): Group {
    const decision: Decision = {
      trail_seq: seq,
      kind: act.kind,
      at,
      by,
      object,
      before,
      after,
      reason: act.reason,
      findings: { count: 0, by_severity: zeros(SEVERITIES), ids: [] },
      second_person: second,
      import_id: act.importId,
    };
    const group = { decision, ids: new Set<string>() };
    groups.push(group);
    return group;
  }

  /** Who asked for an acceptance decided on it. Whoever approved the request is the second person. */
  function whoDecided({ actor, object, after }: TrailEvent, { kind }: Act): { by: Decision['by']; second: string | null } {
    const named = ({ person, name }: TrailEvent['actor']): Decision['by'] => ({ person, name: identities.nameOf(person, name) });
    const isAnswer = (kind === 'accept' || kind === 'extend_acceptance') && fieldOf(after, 'reason_code') === 'acceptance_approved';
    const requester = isAnswer ? requested.get(object.id) : undefined;
    return requester === undefined ? { by: named(actor), second: null } : { by: named(requester), second: actor.person };
  }

  /** A credential that somebody made for an approver, who is therefore not somebody else for certain. */
  function credentialActs({ action, object, actor, after }: TrailEvent): Act[] {
    const person = approvers.get(object.id);
    if (person === undefined || actor.person === person) return [];
    const made = action === 'member.added' || action === 'api_key.created' || (action === 'member.updated' && fieldOf(after, 'password') === 'changed');
    return made ? [{ kind: 'credential_for_approver', findings: [], reason: null, importId: null }] : [];
  }

  return {
    add(event: TrailEvent, seq: number): void {
      if (!isHuman(event.actor)) return;
      if (event.action === 'finding.acceptance_requested') requested.set(event.object.id, event.actor);
      for (const act of [...actsOf(event), ...credentialActs(event)]) record(event, seq, act);
    },
    /** The decisions, with counts of the findings whose severities are known by then. */
    decisions(severityOf: (id: string) => Severity | undefined, ofImport: (decision: Decision) => readonly string[]): Decision[] {
      return groups.map(({ decision, ids }) => {
        const all = [...new Set([...ids, ...(ids.size === 0 ? ofImport(decision) : [])])].sort();
        const by_severity = zeros(SEVERITIES);
        for (const id of all) by_severity[severityOf(id) ?? 'unknown']++;
        return { ...decision, findings: { count: all.length, by_severity, ids: all.slice(0, LISTED) } };
      });
    },
    /** Identities of everybody who made a decision. Adding an approver as a member is none about the work. */
    deciders: (): (string | null)[] =>
      groups.flatMap(({ decision: { kind, by } }) =>
        kind === 'credential_for_approver' ? [] : [identities.ofActor({ type: 'member', id: null, name: by.name, person: by.person })],
      ),
  };
}
