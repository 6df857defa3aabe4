import type { Outcome } from '../figures.ts';
import { access } from './access.ts';
import { hostileReports } from './hostile.ts';
import { outboundSet } from './outbound.ts';
import { fieldSearch, mutatedReports } from './reports.ts';
import { randomRequests } from './requests.ts';
import { startTarget, type Target } from './target.ts';
import { verifySet } from './verify.ts';

export interface Options {
  requests: number;
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
export async function attack(chosen: readonly Part[], { requests, reports, packages, perField, format, seed, minutes, used }: Options): Promise<Outcome> {
  const onTarget: Partial<Record<Part, (target: Target) => Promise<Outcome>>> = {
    access,
    requests: (target) => randomRequests(target, { count: requests, seed, minutes }),
    reports: (target) => mutatedReports(target, { count: reports, seed, minutes }),
    hostile: hostileReports,
    verify: (target) => verifySet(target, { count: packages, seed, minutes }),
  };
  const alone: Partial<Record<Part, () => Promise<Outcome>>> = { fields: () => fieldSearch({ perField, format, minutes }), outbound: () => outboundSet(used) };
  const outcomes: Outcome[] = [{ figures: [['seed', seed]], violations: [] }];
  const attacks = chosen.flatMap((part) => onTarget[part] ?? []);
  if (attacks.length > 0) {
    const target = await startTarget(used);
    try {
      for (const one of attacks) outcomes.push(await one(target));
    } finally {
      await target.close();
    }
  }
  for (const one of chosen.flatMap((part) => alone[part] ?? [])) outcomes.push(await one());
  return { figures: outcomes.flatMap(({ figures }) => figures), violations: outcomes.flatMap(({ violations }) => violations) };
}
