import type { Evidence } from '../../document/evidence.ts';
import type { Finding } from '../../document/finding.ts';
import { gap } from './common.ts';
import { sampleEvidence } from './evidence.ts';
import { hostile } from './hostile.ts';
import { sampleFinding } from './parts.ts';
import { exceptions, unfinished } from './plain.ts';
import { whitewashed } from './whitewashed.ts';

/** One sample of each kind of report. */
export const evidenceSamples = {
  finished: () => sampleEvidence(),
  whitewashed,
  unfinished,
  exceptions,
  empty: () =>
    sampleEvidence(
      {
        findings: [],
        scans: [],
        artifacts: [],
        approvals: [],
        assets: [],
        controls: [],
        earlier: [],
        sequence: 1,
        note: null,
        timestamped: false,
        checks: [
          { id: 'approved_independently', result: 'fail', passed: 0, of: 0 },
          { id: 'verified_by_scan', result: 'not_applicable', passed: 0, of: 0 },
        ],
      },
      [gap('no_findings', 'major'), gap('no_approval', 'minor'), gap('no_timestamp', 'minor')],
    ),
  hostile,
} as const;

export function manyFindings(number: number, overrides: (index: number) => Partial<Finding> = () => ({})): Evidence {
  return sampleEvidence({ findings: Array.from({ length: number }, (_, index) => sampleFinding(index + 1, overrides(index))) });
}
