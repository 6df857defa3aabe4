import { inject } from 'vitest';

/** In which orders three imports can arrive, other than the one of their scans. */
export const OTHER_ORDERS = [
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
] as const;

/** All orders of a few imports, or about eight of them, spread over all. The first one is the given order. `npm run test:laws` tries all, in tests with `LAW`. */
export function someOrders<T>(imports: readonly T[], most = 8): T[][] {
  const all = permutations(imports);
  if (inject('lawSeconds') > 0) return all;
  // An even step would leave the last two imports always in the same order.
  const step = Math.floor(all.length / most) | 1;
  return all.filter((_, at) => at % step === 0);
}

function permutations<T>(all: readonly T[]): T[][] {
  if (all.length < 2) return [[...all]];
  return all.flatMap((one, at) => permutations(all.toSpliced(at, 1)).map((rest) => [one, ...rest]));
}
