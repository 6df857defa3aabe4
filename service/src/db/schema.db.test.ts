import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts';
import { withClient } from './connection/with-client.ts';
import { describeRowTypes } from './row-types.ts';

const SHARED_TABLES = [
  'evidence_keys',
  'import_assets',
  'import_groups',
  'import_rows',
  'import_seen',
  'import_texts',
  'instance_secrets',
  'key_successions',
  'organizations',
  'schema_migrations',
  'vulnerabilities',
  'worker_heartbeats',
];
const INSERT_ONLY_TABLES = [
  'artifact_captures',
  'artifact_removals',
  'artifacts',
  'audit_events',
  'events',
  'log_checkpoints',
  'log_endings',
  'log_epochs',
  'log_leaves',
  'log_nodes',
  'log_publications',
  'package_artifacts',
];

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

afterAll(async () => {
  await client?.end();
  await database?.drop();
});

describe('generated files', () => {
  it('types.ts matches the migrations', async () => {
    expect(await describeRowTypes(client), 'service/src/db/types.ts does not match the migrations: run `npm run db:generate`').toBe(
      await readFile(new URL('./types.ts', import.meta.url), 'utf8'),
    );
  });

  it('row types follow columns, defaults, nullability and checks', () =>
    planted(EVERYTHING, async (rich) => {
      const source = await describeRowTypes(rich);
      const body = /interface EverythingTable \{\n(.*?)\n\}/s.exec(source)?.[1];
      expect(body?.split('\n')).toEqual([
        '  id: string;',
        "  kind: Generated<'only'>;",
        "  mood: 'good' | 'bad' | null;",
        '  long: Generated<EverythingLong>;',
        '  guarded: string;',
        '  tags: Generated<string[]>;',
        '  total: string;',
        '  score: number | null;',
        '  done: Generated<boolean>;',
        '  seen_at: Timestamp | null;',
        '  extra: Generated<JsonColumn>;',
        '  shout: Generated<string | null>;',
      ]);
      expect(source).toContain("type EverythingLong =\n  | 'state_number_01'\n  | 'state_number_02'\n");
      expect(source).toContain('interface TenantEverythingTable extends EverythingTable {\n  loud: string | null;\n}');
    }));
});

const LONG = Array.from({ length: 12 }, (_, index) => `'state_number_${String(index + 1).padStart(2, '0')}'`).join(', ');
const EVERYTHING = `
  create table rrs.everything (
    id uuid primary key,
    kind text not null default 'only' check (kind in ('only')),
    mood text collate "C" check (mood in ('good', 'bad')),
    long text not null default 'state_number_01' check (long in (${LONG})),
    guarded text not null check (lower(guarded) in ('a', 'b')),
    tags text[] not null default '{}',
    total bigint not null,
    score double precision,
    done boolean not null default false,
    seen_at timestamptz(3),
    extra jsonb not null default '{}',
    shout text generated always as (upper(mood)) stored
  );
  create view rrs.tenant_everything as select *, upper(kind) as loud from rrs.everything;
`;

describe('tenant isolation', () => {
  it('every table is made for one organization, or is on the list of shared ones', async () => {
    expect(await isolationProblems(client)).toEqual([]);
  });

  it('the list of shared tables names only tables that exist', async () => {
    const { rows } = await client.query(`select tablename from pg_tables where schemaname = 'rrs' and tablename = any($1) order by 1`, [SHARED_TABLES]);
    expect(rows.map((row) => row.tablename)).toEqual(SHARED_TABLES);
  });

  it.each([
    ['no org_id', 'create table rrs.bad (id uuid primary key)', ['no column org_id', 'primary key', 'row security', 'no policy']],
    ['a nullable org_id', tenantTable('id uuid, org_id uuid, unique (org_id, id)'), ['org_id may be null', 'primary key']],
    ['a primary key that does not lead with org_id', tenantTable('org_id uuid, id uuid, primary key (id, org_id)'), ['primary key', 'index bad_pkey']],
    ['a unique constraint across organizations', tenantTable('org_id uuid, id uuid, slug text unique, primary key (org_id, id)'), ['index bad_slug_key']],
    [
      'a unique index on an expression',
      `${tenantTable('org_id uuid, id uuid, primary key (org_id, id)')}; create unique index bad_expression on rrs.bad (lower(id::text))`,
      ['index bad_expression'],
    ],
    [
      'a foreign key that does not lead with org_id',
      tenantTable('org_id uuid, id uuid, other uuid references rrs.organizations (id), primary key (org_id, id)'),
      ['foreign key bad_other_fkey'],
    ],
    [
      'row security that its owner escapes',
      `${tenantTable('org_id uuid, id uuid, primary key (org_id, id)')}; alter table rrs.bad no force row level security`,
      ['row security'],
    ],
    [
      'a second policy that lets everything through',
      `${tenantTable('org_id uuid, id uuid, primary key (org_id, id)')}; create policy open on rrs.bad for select to public using (true)`,
      ['policy open'],
    ],
    [
      'a policy without a check on writing',
      `${tenantTable('org_id uuid, id uuid, primary key (org_id, id)')}; drop policy tenant on rrs.bad; create policy tenant on rrs.bad to rrs_app using (org_id = current_setting('app.org_id')::uuid) with check (true)`,
      ['policy tenant'],
    ],
    ['a view that forgets it', `create view rrs.bad as select * from rrs.findings where status = 'open'`, ['the view']],
  ])('a table with %s is reported', async (_, sql, expected) => {
    const problems = await problemsWith(sql);
    expect(problems).toEqual(expected.map((problem) => expect.stringContaining(problem)));
    expect(problems.every((problem) => problem.startsWith('bad: '))).toBe(true);
  });

  it('a table made like the others is not reported', async () => {
    expect(await problemsWith(tenantTable('org_id uuid references rrs.organizations (id), id uuid, primary key (org_id, id)'))).toEqual([]);
  });
});

describe('roles', () => {
  it.each(['rrs_app', 'rrs_system', 'rrs_import'])('%s owns nothing and cannot bypass row security', async (role) => {
    const { rows } = await client.query(`select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin from pg_roles where rolname = $1`, [role]);
    expect(rows).toEqual([{ rolsuper: false, rolbypassrls: false, rolcreaterole: false, rolcreatedb: false, rolcanlogin: false }]);
    const owned = await client.query(
      `select relname as name from pg_class where relnamespace = 'rrs'::regnamespace and relowner = $1::regrole
       union all select proname from pg_proc where pronamespace = 'rrs'::regnamespace and proowner = $1::regrole
       union all select nspname from pg_namespace where nspname = 'rrs' and nspowner = $1::regrole`,
      [role],
    );
    expect(owned.rows).toEqual([]);
    const memberships = await client.query('select roleid::regrole::text as role from pg_auth_members where member = $1::regrole', [role]);
    expect(memberships.rows).toEqual([]);
  });

  it('rrs_import can only add rows to staging tables, and rrs_app reaches these only through views', async () => {
    const { rows } = await client.query(
      `select c.relname as name, has_table_privilege('rrs_import', c.oid, 'insert') as adds,
         has_any_column_privilege('rrs_import', c.oid, 'select, update') or has_table_privilege('rrs_import', c.oid, 'select, update, delete, truncate') as more,
         has_any_column_privilege('rrs_app', c.oid, 'select, insert, update') or has_table_privilege('rrs_app', c.oid, 'delete, truncate') as app,
         has_table_privilege('rrs_system', c.oid, 'select, insert, update, delete') as system
       from pg_class c where c.relnamespace = 'rrs'::regnamespace and c.relkind in ('r', 'v') and c.relname like any(array['import\\_%', 'tenant\\_import\\_%'])
         and c.relname not in ('imports', 'import_changes', 'import_closures') order by 1`,
    );
    const copied = ['import_assets', 'import_rows', 'import_texts'];
    const staging = [...copied, 'import_groups', 'import_seen'].sort();
    expect(rows).toEqual([
      ...staging.map((name) => ({ name, adds: copied.includes(name), more: false, app: false, system: false })),
      ...staging.map((name) => ({ name: `tenant_${name}`, adds: false, more: false, app: true, system: false })),
    ]);
    const others = await client.query(
      `select relname from pg_class where relnamespace = 'rrs'::regnamespace and relkind in ('r', 'v') and relname <> all($1)
         and (has_any_column_privilege('rrs_import', oid, 'select, insert, update') or has_table_privilege('rrs_import', oid, 'delete, truncate'))`,
      [staging],
    );
    expect(others.rows).toEqual([]);
  });

  it('functions that run with the rights of their owner look in pg_temp last', async () => {
    const { rows } = await client.query<{ name: string; setting: string }>(
      `select p.proname as name, (select one from unnest(p.proconfig) as one where one like 'search_path=%') as setting from pg_proc p
       where p.pronamespace in ('rrs'::regnamespace, 'rrs_jobs'::regnamespace) and p.prosecdef order by 1`,
    );
    expect(rows.map(({ name }) => name)).toEqual([
      'add_job',
      'analyze_assets',
      'analyze_closures',
      'analyze_findings',
      'analyze_groups',
      'analyze_grown',
      'analyze_staging',
      'count_waiting',
      'rebase_events',
    ]);
    for (const { name, setting } of rows) expect(setting, name).toMatch(/^search_path=.+, pg_temp$/);
  });

  it.each(['worker_heartbeats', 'instance_secrets'])('rrs_app may do nothing with %s', async (table) => {
    const { rows } = await client.query(
      `select has_table_privilege('rrs_app', $1, 'select, insert, update, delete, truncate, references, trigger') or
        has_any_column_privilege('rrs_app', $1, 'select, insert, update, references') as allowed`,
      [`rrs.${table}`],
    );
    expect(rows).toEqual([{ allowed: false }]);
  });

  it.each(
    INSERT_ONLY_TABLES.flatMap(
      (table) =>
        [
          ['rrs_app', '42501'],
          ['rrs_system', '42501'],
          ['rrs_owner', '23001'],
        ].flatMap(([role, code]) =>
          [`update rrs.${table} set org_id = org_id`, `delete from rrs.${table}`, `truncate rrs.${table} cascade`].map((sql) => ({ role, code, sql })),
        ),
      // Old events are deleted, but not by requests.
    ).filter(({ role, sql }) => role === 'rrs_app' || sql !== 'delete from rrs.events'),
  )('$role is refused: $sql', async ({ role, code, sql }) => {
    await client.query(`begin; set local role ${role}; set local app.org_id = '018f0000-0000-7000-8000-000000000000'`);
    try {
      await expect(client.query(sql)).rejects.toMatchObject({ code });
    } finally {
      await client.query('rollback');
    }
  });
});

function tenantTable(definition: string): string {
  return `
    create table rrs.bad (${definition});
    alter table rrs.bad enable row level security;
    alter table rrs.bad force row level security;
    create policy tenant on rrs.bad to rrs_app using (org_id = current_setting('app.org_id')::uuid) with check (org_id = current_setting('app.org_id')::uuid)`;
}

async function problemsWith(sql: string): Promise<string[]> {
  await client.query('begin');
  try {
    await client.query(sql);
    return await isolationProblems(client);
  } finally {
    await client.query('rollback');
  }
}

async function planted(sql: string, check: (client: pg.Client) => Promise<void>): Promise<void> {
  const own = await createTestDatabase();
  try {
    await withClient(own.url, async (rich) => {
      await rich.query(sql);
      await check(rich);
    });
  } finally {
    await own.drop();
  }
}

/** Policies are joined by OR: one that forgets the organization opens the table, whatever the others say. */
async function isolationProblems(reader: pg.Client): Promise<string[]> {
  const { rows } = await reader.query<{ problem: string }>(
    `
    with tenant_table as (
      select c.oid, c.relname as name, c.relrowsecurity and c.relforcerowsecurity as secured, a.attnum as org, a.attnotnull as org_required
      from pg_class c left join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id' and not a.attisdropped
      where c.relnamespace = 'rrs'::regnamespace and c.relkind in ('r', 'p') and c.relname <> all($1)
    ), app_policy as (
      select p.* from pg_policy p where p.polpermissive and p.polroles && array[0, 'rrs_app'::regrole]::oid[]
    )
    select name || ': ' || problem as problem from (
      select name, 1 as rank, 'no column org_id' as problem from tenant_table where org is null
      union all
      select name, 2, 'org_id may be null' from tenant_table where not org_required
      union all
      select name, 3, 'no primary key that leads with org_id' from tenant_table t
      where not exists (select from pg_constraint k where k.conrelid = t.oid and k.contype = 'p' and k.conkey[1] = t.org)
      union all
      select name, 4, format('unique index %s does not lead with org_id', i.indexrelid::regclass)
      from tenant_table t join pg_index i on i.indrelid = t.oid and i.indisunique where t.org is not null and i.indkey[0] <> t.org
      union all
      select name, 5, format('foreign key %s does not lead with org_id', k.conname)
      from tenant_table t join pg_constraint k on k.conrelid = t.oid and k.contype = 'f'
      join pg_attribute target on target.attrelid = k.confrelid and target.attnum = k.confkey[1]
      where k.conkey[1] is distinct from t.org
        or target.attname <> case k.confrelid when 'rrs.organizations'::regclass then 'id' else 'org_id' end
      union all
      select name, 6, 'row security is not both enabled and forced' from tenant_table where not secured
      union all
      select name, 7, 'no policy for rrs_app' from tenant_table t where not exists (select from app_policy p where p.polrelid = t.oid)
      union all
      select name, 8, format('policy %s for rrs_app does not hold to app.org_id in both USING and WITH CHECK', p.polname)
      from tenant_table t join app_policy p on p.polrelid = t.oid
      where (pg_get_expr(p.polqual, p.polrelid) like '%app.org_id%') is not true or (pg_get_expr(p.polwithcheck, p.polrelid) like '%app.org_id%') is not true
      union all
      select c.relname, 9, 'the view does not hold to app.org_id' from pg_class c
      where c.relnamespace = 'rrs'::regnamespace and c.relkind in ('v', 'm') and not coalesce('security_invoker=true' = any(c.reloptions), false)
        and pg_get_viewdef(c.oid) !~ 'WHERE \\(([a-z_]+\\.)?org_id = \\(current_setting\\(''app.org_id''::text\\)\\)::uuid\\);$'
    ) problems order by name, rank, problem`,
    [SHARED_TABLES],
  );
  return rows.map((row) => row.problem.replace('rrs.', ''));
}
