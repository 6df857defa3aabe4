import type { Clock } from '../../shared/clock.ts';

export interface RateLimit {
  perMinute: number;
  burst: number;
}

export interface Verdict {
  allowed: boolean;
  remaining: number;
  /** Seconds until the bucket is full again or, if the request is refused, until the next request is allowed. */
  seconds: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

const FIRST_SWEEP_AT = 10_000;

/** One token bucket per key, in memory. Each replica allows the full rate. */
export function createLimiter({ perMinute, burst }: RateLimit, clock: Clock) {
  const buckets = new Map<string, Bucket>();
  const perMs = perMinute / 60_000;
  let sweepAt = FIRST_SWEEP_AT;

  const bucketOf = (key: string): Bucket => {
    const now = clock.now();
    const bucket = buckets.get(key) ?? { tokens: burst, at: now };
    bucket.tokens = Math.min(burst, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
    bucket.at = now;
    if (buckets.size >= sweepAt && !buckets.has(key)) sweep(now);
    buckets.set(key, bucket);
    return bucket;
  };
  const sweep = (now: number): void => {
    for (const [key, bucket] of buckets) {
      if (bucket.tokens + (now - bucket.at) * perMs >= burst) buckets.delete(key);
    }
    // Doubling the threshold keeps sweeps rare when many keys are active.
    sweepAt = Math.max(FIRST_SWEEP_AT, 2 * buckets.size);
  };
  const verdict = (bucket: Bucket, allowed: boolean): Verdict => ({
    allowed,
    remaining: Math.floor(bucket.tokens),
    seconds: Math.ceil((allowed ? burst - bucket.tokens : 1 - bucket.tokens) / perMs / 1000),
  });

  return {
    take(key: string): Verdict {
      const bucket = bucketOf(key);
      const allowed = bucket.tokens >= 1;
      if (allowed) bucket.tokens -= 1;
      return verdict(bucket, allowed);
    },
    look(key: string): Verdict {
      const bucket = bucketOf(key);
      return verdict(bucket, bucket.tokens >= 1);
    },
  };
}

export type Limiter = ReturnType<typeof createLimiter>;
