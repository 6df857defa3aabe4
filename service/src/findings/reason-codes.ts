import type { Actor } from '../shared/actor.ts';

/** Every reason for which the status of a finding changes, and the sentence that people read. */
export const reasonSentences = {
  by_person: 'A person changed the status.',
  by_connection: 'A connection changed the status.',
  scan_absent: 'A complete scan no longer reports the finding.',
  scan_seen_again: 'A scan reports the finding again.',
  scan_unable: 'The scan that no longer showed the finding was not able to show it.',
  source_fixed: 'The source states that the finding is fixed.',
  source_retracted: 'The source no longer reports the finding, although what it scanned has not changed.',
  source_retired: 'The source that reported the finding was retired.',
  check_retired: 'The tool no longer has the check that reported the finding.',
  new_occurrence: 'The finding was reported at a location that the decision does not cover.',
  regression: 'The finding came back where scans had shown that it was gone.',
  risk_increased: 'The severity rose, or the vulnerability was listed as exploited, after the risk was accepted.',
  acceptance_approved: 'A second person approved the acceptance of the risk.',
  acceptance_expired: 'The risk acceptance expired.',
  acceptance_fixed: 'Scans no longer report the finding, so the acceptance of its risk is no longer needed.',
  acceptance_resumed: 'The finding is back while its risk is still accepted.',
  decision_resumed: 'The finding is only reported at locations that the decision covers.',
  asset_retired: 'The asset was retired.',
  asset_gone: 'The source no longer lists the asset.',
  asset_listed: 'The source lists the asset again.',
  track_ended: 'The branch or environment that had the finding ended.',
  track_unmerged: 'The scan that no longer showed the finding covered another branch or environment.',
  asset_unmerged: 'The scan that had changed the status covered another asset.',
  merged: 'The finding was merged into another one.',
  split: 'The finding was separated from another one.',
} as const;

export type ReasonCode = keyof typeof reasonSentences;
export const reasonCodes = Object.keys(reasonSentences) as readonly ReasonCode[];

export function changedBy({ person }: Pick<Actor, 'person'>): 'by_person' | 'by_connection' {
  return person === null ? 'by_connection' : 'by_person';
}

/** The reason as people read it: the words of whoever changed the status, else the sentence of the code. */
export function reasonText(code: string | null, words: string | null): string | null {
  if (words !== null || code === null || code === 'by_person') return words;
  return reasonSentences[code as ReasonCode] ?? null;
}
