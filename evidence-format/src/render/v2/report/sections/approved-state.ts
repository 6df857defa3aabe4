import type { Approval, Evidence } from '../../../../document/evidence.ts';
import { approvedStateDigest, approvedStateLines, approvedStateOf } from '../../../../rules/approved-state.ts';
import { count, listed } from '../../words/numbers.ts';
import { type Cell, line } from '../model.ts';

/** Whether the state is still the one that was approved, and what has changed since as far as times tell. */
export function changesSince(evidence: Evidence): (approval: Approval) => Cell {
  const current = evidence.approvals.length === 0 ? '' : approvedStateDigest(approvedStateLines(approvedStateOf(evidence)));
  return ({ state_sha256, at }) =>
    state_sha256 === current
      ? [line('Unchanged since', 'good')]
      : [line('Changed since', 'bad'), line(listed(changesAfter(evidence, at)) || 'Title, or another detail', 'quiet')];
}

function changesAfter({ findings, unlinked, artifacts, policies, work_item }: Evidence, at: string): string[] {
  const later = (time: string | null | undefined): boolean => time !== null && time !== undefined && time > at;
  const changes: [number, string, string][] = [
    [findings.filter(({ state_changed_at }) => later(state_changed_at)).length, 'state of a finding', 'states of findings'],
    [findings.filter(({ override }) => later(override?.at)).length, 'severity', 'severities'],
    [
      findings.filter(({ work_items }) => work_items.some(({ id, linked_at }) => id === work_item.id && later(linked_at))).length,
      'added finding',
      'added findings',
    ],
    [unlinked.filter((finding) => later(finding.at)).length, 'removed finding', 'removed findings'],
    [artifacts.filter(({ added_at, removed }) => later(added_at) || later(removed?.at)).length, 'artifact', 'artifacts'],
    [policies.filter(({ effective_from }) => later(effective_from)).length, 'change of the policy', 'changes of the policy'],
  ];
  return changes.flatMap(([number, one, many]) => (number === 0 ? [] : [count(number, one, many)]));
}
