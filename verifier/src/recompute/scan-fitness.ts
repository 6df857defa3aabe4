import type { Finding, Scan } from '@rrs/evidence-format';
import { type Fault, FINDINGS } from './fault.ts';
import type { Known } from './references.ts';
import { later, SCANNER_CLOCK_MS } from './time-order.ts';

/** Checks that the scan that showed a finding can have shown it, and that the scan by which it is verified can show that it is gone. */
export function* scanFaults(finding: Finding, { scans }: Known): Generator<Fault> {
  const { id, state, cause, before, after, claimed_at, sources } = finding;
  for (const scan of [before.scan, after.scan, ...after.others]) {
    const tool = scans.get(scan ?? '')?.tool;
    if (tool !== undefined && !sources.some((source) => isOf(source, tool)))
      yield { code: 'scan_unfit', file: FINDINGS, detail: `The finding ${id} names a scan of a tool that is not one of its sources.`, actual: tool };
  }
  if (state !== 'verified' || cause !== 'scan' || after.state !== 'absent') return;
  const [shown, gone] = [before.scan, after.scan].map((scan) => (scan === null ? undefined : scans.get(scan)));
  const unfit = (detail: string): Fault => ({ code: 'scan_unfit', file: FINDINGS, detail: `The finding ${id} is verified by a scan ${detail}.` });
  if (after.scan === null) yield unfit('that it does not name');
  for (const other of after.others) if (scans.has(other) && scans.get(other)?.status !== 'succeeded') yield unfit('that was not applied');
  if (gone === undefined) return;
  if (gone.status !== 'succeeded') yield unfit('that was not applied');
  if (isImpossible(gone)) yield unfit('whose times cannot be right');
  if (claimed_at !== null && endOf(gone) < claimed_at) yield unfit('that is older than the claim');
  if (shown === undefined) return;
  if (shown.id === gone.id || shown.sha256 === gone.sha256)
    yield { code: 'same_scan', file: FINDINGS, detail: `The finding ${id} is present and absent in the same report.`, actual: gone.id };
  // With several sources, the last one that saw the finding need not be the last one that did not.
  else if (sources.length === 1 && endOf(gone) < endOf(shown)) yield unfit('that is older than the one that showed it');
}

/** Whether a source is this tool. Its name has the tool in parentheses if the vendor has several. */
export function isOf(source: string, tool: string): boolean {
  return source === tool || source.endsWith(` (${tool})`);
}

/** The service closes nothing with a scan that ended after it was received, or before its knowledge. The clock of a scanner may be ahead. */
function isImpossible({ ended_at, received_at, knowledge_at, original }: Scan): boolean {
  if (ended_at === null) return false;
  const isTooEarly = original === 'bytes' && knowledge_at !== null && knowledge_at > ended_at;
  return isTooEarly || ended_at > later(received_at, SCANNER_CLOCK_MS);
}

function endOf({ ended_at, received_at }: Scan): string {
  return ended_at ?? received_at;
}
