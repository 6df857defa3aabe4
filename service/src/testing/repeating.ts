import type { Database } from '../db/database.ts';

const OUTDATED_PLAN = '0A000';

/** Rolls back every transaction once before it commits, and runs it again, as if its connection had had an outdated plan. */
export function repeating(db: Database): Database {
  const twice = <Tx, T>(work: (tx: Tx) => Promise<T>): ((tx: Tx) => Promise<T>) => {
    let runs = 0;
    return async (tx) => {
      const result = await work(tx);
      if (++runs === 1) throw Object.assign(new Error('cached plan must not change result type'), { code: OUTDATED_PLAN });
      return result;
    };
  };
  return {
    ...db,
    withTenant: (tenant, work) => db.withTenant(tenant, twice(work)),
    withSystem: (work) => db.withSystem(twice(work)),
    limitedTo: (limits) => repeating(db.limitedTo(limits)),
    planning: (planning) => repeating(db.planning(planning)),
  };
}
