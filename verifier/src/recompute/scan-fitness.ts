import type { Finding, Scan } from '@rrs/evidence-format';
import { type Fault, FINDINGS } from './fault.ts';
import type { Known } from './references.ts';

/** Checks that the scan that showed a finding can have shown it, and that the scan by which it is verified can show that it is gone. */
export function* scanFaults(finding: Finding, { scans }: Known): Generator<Fault> {
  const { id, state, cause, before, after, claimed_at, sources } = finding;
  const tool = scans.get(before.scan ?? '')?.tool;
  if (tool !== undefined && !sources.some((source) => source === tool || source.endsWith(` (${tool})`)))
    yield { code: 'scan_unfit', file: FINDINGS, detail: `The finding ${id} was shown by a tool that is not one of its sources.`, actual: tool };
  if (state !== 'verified' || cause !== 'scan' || after.state !== 'absent') return;
  const [shown, gone] = [before.scan, after.scan].map((scan) => (scan === null ? undefined : scans.get(scan)));
  const unfit = (detail: string): Fault => ({ code: 'scan_unfit', file: FINDINGS, detail: `The finding ${id} is verified by a scan ${detail}.` });
  if (after.scan === null) yield unfit('that it does not name');
  for (const other of after.others) if (scans.has(other) && scans.get(other)?.status !== 'succeeded') yield unfit('that was not applied');
  if (gone === undefined) return;
  if (gone.status !== 'succeeded') yield unfit('that was not applied');
  if (claimed_at !== null && endOf(gone) < claimed_at) yield unfit('that is older than the claim');
  if (shown === undefined) return;
  if (shown.id === gone.id || shown.sha256 === gone.sha256)
    yield { code: 'same_scan', file: FINDINGS, detail: `The finding ${id} is present and absent in the same report.`, actual: gone.id };
  // With several sources, the last one that saw the finding need not be the last one that did not.
  else if (sources.length === 1 && endOf(gone) < endOf(shown)) yield unfit('that is older than the one that showed it');
}

function endOf({ ended_at, received_at }: Scan): string {
  return ended_at ?? received_at;
}
