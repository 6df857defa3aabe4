import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

/** A way in which the service could be wrong about what a scan proves. It is built into the database of a running service. */
interface Fault {
  name: string;
  /** A table, and what is changed in each row `new` that the service writes there. */
  table: 'import_assets' | 'import_closures' | 'imports';
  change: string;
  /** The names of cases that notice it. */
  noticedBy: RegExp;
}

const ignoring = (code: string, noticedBy: RegExp): Fault => ({
  name: `it ignores the condition ${code}`,
  table: 'import_closures',
  change: `new.blockers := array_remove(new.blockers, '${code}')`,
  noticedBy,
});

const inAssets = (name: string, change: string, noticedBy: RegExp): Fault => ({ name, table: 'import_assets', change, noticedBy });

export const faults: readonly Fault[] = [
  ignoring('not_credentialed', /without credentials|login failed/),
  ignoring('knowledge_older', /older database/),
  ignoring('check_disabled', /check switched off/),
  ignoring('not_read', /fewer files|another folder/),
  ignoring('scan_narrower', /high severities only|has a fix only/),
  ignoring('platform_other', /another platform/),
  ignoring('address_other', /another machine/),
  ignoring('version_older', /lower version/),
  ignoring('track_unstated', /builds without a branch/),
  ignoring('time_suspect', /in the future/),
  ignoring('asset_unspecified', /another scan of an unspecified asset/),
  ignoring('partially_covered', /says that it failed/),
  {
    name: 'it takes what the source changed its mind about for fixed',
    table: 'import_closures',
    change: `new.absence := 'gone'`,
    noticedBy: /same build|still has the component/,
  },
  {
    name: 'it takes partial scans for complete ones',
    table: 'imports',
    change: `new.scan_scope := new.scan_scope || '{"coverage":"complete"}'`,
    noticedBy: /partial rescan/,
  },
  inAssets('it believes every scan to be of this moment', 'new.started_at := now(); new.ended_at := now()', /a scan from before|same moment/),
  inAssets('it knows no tracks', `new.track_name := 'main'; new.own_track := null; new.track_counts := true`, /another tag|pull request|feature branch/),
];

/** Makes the service wrong. Returns what repairs it. */
export async function breakService({ dataDir }: { dataDir: string }, { table, change }: Fault): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: readFileSync(join(dataDir, 'postgres.url'), 'utf8').trim().replace('//rrs_login@', '//rrs_admin@') });
  await client.connect();
  await client.query(`
    create function rrs.wrong() returns trigger language plpgsql as $$ begin ${change}; return new; end $$;
    create trigger wrong before insert or update on rrs.${table} for each row execute function rrs.wrong()`);
  return async () => {
    await client.query('drop function rrs.wrong cascade');
    await client.end();
  };
}
