import pg from 'pg';

/**
 * A clock that can be moved, so that the product's own code writes a history with believable times. The service reads the time in two places: `Date` in its
 * process and `now()` in its database. Both are set back by the same amount until `restore`.
 */
export interface MovedClock {
  /** Moves the clock. From then on time passes as usual. Moving it backwards is refused. */
  moveTo(time: Date): Promise<void>;
  /** Puts the time of the process and of the database right. */
  restore(): Promise<void>;
}

const SETTING = 'history.behind';
/**
 * The planner replaces a call of a SQL function by its body, so this also applies to defaults of columns and inside other functions. `transaction_timestamp()`
 * and `timeofday()` still read the real clock.
 */
const bodies = {
  now: `select transaction_timestamp() - current_setting('${SETTING}')::interval`,
  clock_timestamp: `select timeofday()::timestamptz - current_setting('${SETTING}')::interval`,
} as const;

/** Only for a database that is thrown away: as its superuser, this changes two functions of PostgreSQL. Begin before the service connects. */
export async function moveClock(superuserUrl: string): Promise<MovedClock> {
  const admin = new pg.Client({ connectionString: superuserUrl });
  await admin.connect();
  const RealDate = Date;
  let behindMs = 0;
  const setBehind = async (ms: number): Promise<void> => {
    const text = `${ms} ms`;
    await admin.query(`alter system set ${SETTING} = '${text}'`);
    await admin.query('select pg_reload_conf()');
    // The server signals all its processes at once, so when this one has the value, the others read it before their next statement.
    for (let current = ''; current !== text; ) current = (await admin.query(`select current_setting('${SETTING}', true) as value`)).rows[0]?.value;
    behindMs = ms;
  };
  // Nothing is lost if the machine fails now.
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) await admin.query(`alter system set ${setting} = off`);
  await setBehind(0);
  await admin.query('set allow_system_table_mods = on');
  const replace = (name: keyof typeof bodies, language: string, source: string) =>
    admin.query(
      `update pg_proc set prolang = (select oid from pg_language where lanname = $1), prosrc = $2
       where proname = $3 and pronargs = 0 and pronamespace = 'pg_catalog'::regnamespace`,
      [language, source, name],
    );
  for (const name of ['now', 'clock_timestamp'] as const) await replace(name, 'sql', bodies[name]);

  const MovedDate = class extends RealDate {
    constructor(...given: unknown[]) {
      // cast: the constructor of Date has overloads, which a list of arguments cannot match.
      super(...((given.length === 0 ? [RealDate.now() - behindMs] : given) as [number]));
    }
    static override now(): number {
      return RealDate.now() - behindMs;
    }
  };
  // cast: Date can also be called without new, which nothing here does.
  globalThis.Date = MovedDate as DateConstructor;

  return {
    moveTo: async (time) => {
      const behind = RealDate.now() - time.getTime();
      if (behind > behindMs && behindMs !== 0) throw new Error(`the clock cannot go back to ${time.toISOString()}`);
      await setBehind(Math.max(0, behind));
    },
    restore: async () => {
      globalThis.Date = RealDate;
      for (const name of ['now', 'clock_timestamp'] as const) await replace(name, 'internal', name);
      await admin.query('alter system reset all');
      await admin.end();
    },
  };
}
