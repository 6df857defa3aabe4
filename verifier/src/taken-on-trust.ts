/** What no program can check from a package alone. Every report lists the codes that apply to it. The codes are stable. */
export const TAKEN_ON_TRUST = {
  originals_true: 'The scanners and other systems reported the truth, and the original files are theirs.',
  who_is_who: 'The accounts belong to the people whose names they show.',
  trail_complete: 'The audit trail contains every event: the service left none out.',
  policy_history_complete: 'The package shows every change of the policy.',
  other_open_counts: 'The counts of other open findings are right.',
  pipeline_claims: 'The claims about pipelines that uploaded scans are right.',
  connection_normalized: 'Scans that a connection fetched were converted correctly.',
  pdf_pixels: 'report.pdf shows the same as evidence.json. Only its hash was checked.',
  no_stamp: 'The package was made at the time that it states. No authority that you trust confirms it.',
  no_checkpoint_or_witness:
    'The service shows everybody the same log. You compared no checkpoint that you saved earlier, and no witness that you trust confirmed it.',
  tenants_share_keys: 'The service keeps its organizations apart: they share its keys.',
} as const;

export type TrustCode = keyof typeof TAKEN_ON_TRUST;

export function takenOnTrust({ stamped, compared }: { stamped: boolean; compared: boolean }): TrustCode[] {
  const settled: Partial<Record<TrustCode, boolean>> = { no_stamp: stamped, no_checkpoint_or_witness: compared };
  return (Object.keys(TAKEN_ON_TRUST) as TrustCode[]).filter((code) => settled[code] !== true);
}
