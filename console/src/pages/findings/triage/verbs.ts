import type { BulkChange, Decision, FindingPatch, FindingStatus, ListedFinding } from '@rrs/client';
import type { CommandName } from '../../../keys/commands.ts';

export type Change = BulkChange['change'];

/** What can be done to findings. The row, the bulk bar, the palette and the keys offer the same verbs. */
export interface Verb {
  label: string;
  command: CommandName;
  /** The status that it leads to. */
  status?: FindingStatus;
  /** What it asks for. Without a question, it happens at once. */
  asks?: 'reason' | 'justification' | 'acceptance' | 'status' | 'severity' | 'tags' | 'work-item';
}

export const verbs = {
  progress: { label: 'In progress', command: 'progress', status: 'in_progress' },
  remediate: { label: 'Remediated', command: 'remediate', status: 'remediated', asks: 'reason' },
  falsePositive: { label: 'False positive', command: 'false-positive', status: 'false_positive', asks: 'justification' },
  accept: { label: 'Accept risk', command: 'accept', status: 'risk_accepted', asks: 'acceptance' },
  status: { label: 'Status', command: 'status', asks: 'status' },
  severity: { label: 'Severity', command: 'severity', asks: 'severity' },
  tags: { label: 'Tags', command: 'tags', asks: 'tags' },
  workItem: { label: 'Work item', command: 'work-item', asks: 'work-item' },
} as const satisfies Record<string, Verb>;

export type VerbName = keyof typeof verbs;

/** Whether the decision waits for the approval of another person. */
export const isRequested = ({ kind, state }: Pick<Decision, 'kind' | 'state'>): boolean => kind === 'acceptance' && state === 'requested';

/** Whether the verb does not change the status: an accepted risk gets another end, owner or compensating control. */
export const isExtended = ({ asks, status }: Verb, now: FindingStatus): boolean => asks === 'acceptance' && status === now;

/** The statuses that people set on many findings together. The dry run says which of them allow it. */
export const bulkStatuses: readonly FindingStatus[] = ['open', 'in_progress', 'remediated', 'risk_accepted', 'false_positive', 'withdrawn'];

/** What a change is about: some findings, or all that match a filter. */
export type Target = { findings: readonly ListedFinding[] } | { filter: Readonly<Record<string, string>>; count: string };

export const sizeOf = (target: Target): string => ('findings' in target ? String(target.findings.length) : target.count);

/** A change of many as the change of one: tags are given as a whole there. */
export function patchOf(change: Change, finding: ListedFinding): FindingPatch {
  const { add_tags, remove_tags, work_item_id: _item, acceptance: _acceptance, ...rest } = change;
  if (add_tags === undefined && remove_tags === undefined) return rest;
  return { ...rest, tags: [...new Set([...finding.tags, ...(add_tags ?? [])])].filter((tag) => !remove_tags?.includes(tag)) };
}
