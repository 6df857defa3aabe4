import type { ChainedEvent } from '@rrs/evidence-format';
import type { OpenedPackage } from '../archive/read-package.ts';
import type { Platform } from '../platform.ts';
import type { Recorder } from '../report.ts';
import type { ParsedTrust } from '../trust/trust.ts';

/** Input of every check of the proof. */
export interface CheckContext {
  opened: OpenedPackage;
  trust: ParsedTrust;
  platform: Platform;
  recorder: Recorder;
  /** In milliseconds since 1970. */
  now: number;
  /** Receives each event of the audit trail, in order. */
  onEvent(event: ChainedEvent): void;
}
