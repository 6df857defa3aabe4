import type { Opened } from '../archive/read-package.ts';
import type { Platform } from '../platform.ts';
import type { Findings } from '../report.ts';
import type { ParsedTrust } from '../trust/trust.ts';

/** What every check of a proof works on. */
export interface Checked {
  opened: Opened;
  trust: ParsedTrust;
  platform: Platform;
  findings: Findings;
}
