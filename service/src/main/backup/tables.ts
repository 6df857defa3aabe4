import pg from 'pg';
import { SCHEMA } from '../../db/database.ts';

export interface TableShape {
  table: string;
  columns: string[];
}

/** State of this database that must not be copied to another. */
const EXCLUDED = ['schema_migrations', 'worker_heartbeats'];

/** Returns all tables with their stored columns. Threat: a policy that hides rows from the system role would silently omit them from the backup. */
export async function describeTables(client: pg.ClientBase): Promise<TableShape[]> {
  const { rows } = await client.query<TableShape & { readable: boolean }>(
    `with policy as (
       select polrelid, polpermissive, pg_get_expr(polqual, polrelid) = 'true' as open from pg_policy
       where polcmd in ('*', 'r') and polroles && array[0, (select oid from pg_roles where rolname = 'rrs_system')]
     )
     select c.relname as table,
       array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' order by attnum) as columns,
       has_table_privilege('rrs_system', c.oid, 'select') and (not c.relrowsecurity or
         (exists (select from policy where polrelid = c.oid and polpermissive and open)
           and not exists (select from policy where polrelid = c.oid and not polpermissive and not open))) as readable
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relkind in ('r', 'p') and c.relpersistence = 'p' and not c.relispartition and c.relname <> all($2)
     order by c.relname collate "C"`,
    [SCHEMA, EXCLUDED],
  );
  const hidden = rows.filter((row) => !row.readable).map((row) => row.table);
  if (hidden.length > 0)
    throw new Error(`rrs_system cannot read all rows of ${hidden.join(', ')}. A migration must grant it SELECT, with a policy "using (true)".`);
  return rows.map(({ table, columns }) => ({ table, columns }));
}

export function qualified(table: string): string {
  return `${SCHEMA}.${pg.escapeIdentifier(table)}`;
}

export function copyTarget({ table, columns }: TableShape): { table: string; columns: string } {
  return { table: qualified(table), columns: columns.map((column) => pg.escapeIdentifier(column)).join(', ') };
}

/** Makes COPY produce text that any server reads back as the same values, and removes time limits that are meant for ordinary queries. */
export const COPY_SETTINGS = `
  set local datestyle = 'ISO, YMD'; set local intervalstyle = 'postgres'; set local timezone = 'UTC'; set local client_encoding = 'UTF8';
  set local extra_float_digits = 1; set local bytea_output = 'hex'; set local array_nulls = on;
  select set_config(name, '0', true) from pg_settings
  where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`;
