import type { Finding } from '../../document/finding.ts';
import type { Scan } from '../../document/scan.ts';
import { scansAfter } from '../standing.ts';
import type { GapCollector } from './collector.ts';

/**
 * Reports that could not be read, of the same format as the reports on a verified finding, and received after the last one that showed it. Threat: a report
 * that still shows the finding is cut off, and another one is uploaded.
 */
export function collectFailedScans(scans: ReadonlyMap<string, Scan>) {
  const failed = [...scans.values()].filter(({ status }) => status === 'failed');
  const doubtful = new Set<Scan>();
  const naming = new Set<Scan>();
  return {
    add(finding: Finding): void {
      const { state, before, weakness, cves } = finding;
      if (state !== 'verified') return;
      const shown = scans.get(before.scan ?? '');
      const formats = new Set([shown?.format, ...scansAfter(finding).map((id) => scans.get(id)?.format)]);
      for (const scan of failed) {
        if (!formats.has(scan.format)) continue;
        if (shown !== undefined && Date.parse(scan.received_at) <= Date.parse(shown.received_at)) continue;
        doubtful.add(scan);
        if ([weakness, ...cves].some((one) => scan.names.includes(one))) naming.add(scan);
      }
    },
    addGaps(collector: GapCollector): void {
      for (const scan of doubtful) collector.add('scan_failed', naming.has(scan) ? 'major' : 'minor', scan.id);
    },
  };
}
