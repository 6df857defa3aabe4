import { equalBytes } from '@rrs/evidence-format';
import type { PackageSummary } from '../report.ts';
import type { CheckContext } from './context.ts';
import { type Bundle, PROOF } from './proof-files.ts';

const MINUTE_MS = 60_000;
/** Clocks of the service, the authority and the caller may differ this much. */
const SKEW_MS = 5 * MINUTE_MS;
/** Sealing, including retries of a time-stamping authority, takes at most this long. */
const SEALING_MS = 60 * MINUTE_MS;

interface Times {
  generatedAt: string;
  timestamps: PackageSummary['timestamps'];
  bundle: Bundle;
  keys: { package: Uint8Array | null; log: Uint8Array | null | undefined; note: Uint8Array | null | undefined };
}

/** Checks that the times agree, and that the keys were in use at the time that an authority vouches for. */
export function checkTimes(context: CheckContext, { generatedAt, timestamps, bundle, keys }: Times): void {
  const generated = Date.parse(generatedAt);
  const stamped = timestamps.filter(({ trusted }) => trusted).map(({ time }) => Date.parse(time));
  // Later stamps extend the life of a package whose first authority expires, so only the first one is near generated_at.
  const first = stamped.length === 0 ? null : Math.min(...stamped);
  const logged = Number(bundle.verificationMaterial.tlogEntries[0].integratedTime) * 1000;
  expectBetween(context, { what: 'generated_at', time: generated, from: Number.NEGATIVE_INFINITY, to: context.now + SKEW_MS });
  if (first !== null) {
    const to = Math.min(generated + SEALING_MS, context.now + SKEW_MS);
    expectBetween(context, { what: 'The first trusted timestamp', time: first, from: generated - SKEW_MS, to });
  }
  const reference = first ?? generated;
  expectBetween(context, { what: 'The time in the log', time: logged, from: reference - SEALING_MS, to: reference + SEALING_MS });
  for (const [use, key] of Object.entries(keys)) if (key) checkPeriod(context, { use, key }, { first, generated });
}

interface Between {
  what: string;
  time: number;
  from: number;
  to: number;
}

function expectBetween({ recorder }: CheckContext, { what, time, from, to }: Between): void {
  if (time >= from && time <= to) return;
  recorder.fail('time_mismatch', PROOF.bundle, { detail: `${what} is out of range.`, expected: range(from, to), actual: iso(time) });
}

/** A key that was replaced or revoked may be in other hands since, so only an authority's time can show that it signed before that. */
function checkPeriod(
  { trust, recorder }: CheckContext,
  { use, key }: { use: string; key: Uint8Array },
  { first, generated }: { first: number | null; generated: number },
): void {
  const periods = trust.periods.filter((period) => equalBytes(period.key, key));
  const fits = ({ from, end }: { from: number; end: number }) =>
    first === null ? end === Number.POSITIVE_INFINITY && generated >= from - SKEW_MS : first >= from - SKEW_MS && first < end;
  if (periods.length === 0 || periods.some(fits)) return;
  recorder.fail('key_period', PROOF.bundle, {
    detail:
      first === null
        ? `No trusted timestamp shows that the ${use} key signed while it was in use. If the package has a timestamp, supply the certificate of its authority.`
        : `The ${use} key was not in use at the time of the first trusted timestamp.`,
    expected: periods.map(({ from, end }) => range(from, end)).join(' or '),
    actual: first === null ? 'no trusted timestamp' : iso(first),
  });
}

function range(from: number, to: number): string {
  if (!Number.isFinite(from)) return `at or before ${iso(to)}`;
  return Number.isFinite(to) ? `${iso(from)} to ${iso(to)}` : `at or after ${iso(from)}`;
}

function iso(time: number): string {
  return Number.isFinite(time) && Math.abs(time) < 8.64e15 ? new Date(time).toISOString() : String(time);
}
