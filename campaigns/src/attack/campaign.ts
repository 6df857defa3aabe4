import type { Outcome } from '../figures.ts';
import { access } from './access.ts';
import { hostileReports } from './hostile.ts';
import { outboundSet } from './outbound.ts';
import { fieldSearch, mutatedReports } from './reports.ts';
import { randomRequests } from './requests.ts';
import { startTarget, type Target } from './target.ts';
import { verifySet } from './verify.ts';

export interface Options {
  /** One of so many routes is called with every role and from the other organization. */
  everyRoute?: number;
  /** Size of the largest hostile files, as a part of what the long form sends. */
  share?: number;
  requests: number;
  /** Leaves out the first so many requests. */
  skip?: number;
  reports: number;
  packages: number;
  /** Attacks on each field. */
  perField: number;
  /** Limits the search to the fields of one format. */
  format?: string | undefined;
  seed: number;
  /** Each part that repeats ends after this time. */
  minutes: number;
  /** The data folder of a service that was started before, to save the first start. */
  used?: string;
}

export const parts = ['access', 'requests', 'reports', 'hostile', 'verify', 'fields', 'outbound'] as const;
export type Part = (typeof parts)[number];

/** Attacks a running service from outside. Nothing may end it, keep others waiting, or show data of another organization. */
export async function attack(chosen: readonly Part[], options: Options): Promise<Outcome> {
  const { everyRoute = 1, share = 1, requests, skip = 0, reports, packages, perField, format, seed, minutes, used } = options;
  const onTarget: Partial<Record<Part, (target: Target) => Promise<Outcome>>> = {
    access: (target) => access(target, { every: everyRoute, seed }),
    requests: (target) => randomRequests(target, { count: requests, skip, seed, minutes }),
    reports: (target) => mutatedReports(target, { count: reports, seed, minutes }),
    hostile: (target) => hostileReports(target, share),
    verify: (target) => verifySet(target, { count: packages, seed, minutes, share }),
  };
  const alone: Partial<Record<Part, () => Promise<Outcome>>> = { fields: () => fieldSearch({ perField, format, minutes }), outbound: () => outboundSet(used) };
  const outcomes: Outcome[] = [{ figures: [['seed', seed]], violations: [] }];
  const timed = async (part: Part, run: () => Promise<Outcome>): Promise<void> => {
    const started = performance.now();
    const { figures, violations } = await run();
    outcomes.push({ figures: [...figures, [`${part}: duration`, `${((performance.now() - started) / 1000).toFixed(1)} s`]], violations });
  };
  const attacks = chosen.filter((part) => onTarget[part]);
  if (attacks.length > 0) {
    const target = await startTarget(used);
    try {
      for (const part of attacks) {
        const run = onTarget[part];
        if (run) await timed(part, () => run(target));
      }
    } finally {
      await target.close();
    }
  }
  for (const part of chosen) {
    const run = alone[part];
    if (run) await timed(part, run);
  }
  return { figures: outcomes.flatMap(({ figures }) => figures), violations: outcomes.flatMap(({ violations }) => violations) };
}
