alter table organizations add column policy jsonb not null default '{}';

-- Who says so: a person, report files of one tool, a connection.
create table sources (
  org_id uuid not null references organizations (id),
  id uuid not null,
  kind text not null check (kind in ('manual', 'import', 'connection')),
  provider text not null,
  -- Which tool wrote it, for formats that many tools write.
  tool text not null default '',
  name text not null default '',
  created_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  unique (org_id, kind, provider, tool, name)
);

create table assets (
  org_id uuid not null references organizations (id),
  id uuid not null,
  type text not null check (type in ('host', 'container_image', 'repository', 'package', 'web_application', 'cloud_resource', 'other')),
  name text not null,
  criticality text not null default 'medium' check (criticality in ('low', 'medium', 'high', 'critical')),
  exposure text not null default 'unknown' check (exposure in ('internet', 'internal', 'unknown')),
  owner text,
  tags text[] not null default '{}',
  retired_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, id)
);
create index assets_by_created on assets (org_id, created_at, id);
create index assets_by_name on assets (org_id, (lower(name) collate "C"), id);
create index assets_by_type on assets (org_id, type, created_at, id);
create index assets_by_tag on assets using gin (tags);

-- The names by which an asset is found again. The rank says how far a name identifies: 0 its own name, 1 strong, 2 weak.
create table asset_keys (
  org_id uuid not null,
  key text not null,
  asset_id uuid not null,
  rank smallint not null,
  primary key (org_id, key, asset_id),
  foreign key (org_id, asset_id) references assets (org_id, id)
);
create index asset_keys_by_asset on asset_keys (org_id, asset_id);

-- Shared knowledge, written by enrichment alone: what a tenant's report says stays with the tenant.
create table vulnerabilities (
  id text primary key,
  aliases text[] not null default '{}',
  cwes integer[] not null default '{}',
  cvss_version text,
  cvss_vector text,
  cvss_score real,
  epss real,
  epss_percentile real,
  epss_date text,
  kev boolean not null default false,
  kev_due_date text,
  kev_version text,
  exploit_public boolean not null default false,
  updated_at timestamptz(3) not null default now()
);

-- Ids of one vulnerability, learned from reports that name several: GHSA-… is CVE-….
create table vulnerability_aliases (
  org_id uuid not null references organizations (id),
  alias text not null,
  weakness text not null,
  primary key (org_id, alias)
);

-- Long texts, stored once however many findings share them.
create table finding_texts (
  org_id uuid not null references organizations (id),
  id bytea not null,
  description text,
  solution text,
  reference_urls text[] not null default '{}',
  primary key (org_id, id)
);

create table findings (
  org_id uuid not null,
  id uuid not null,
  asset_id uuid not null,
  -- The identity, with the asset: what it is and where on the asset. Stored, never computed again from what may change.
  weakness text not null,
  place bytea not null,
  asset_type text not null,
  title text not null,
  status text not null check (status in ('open', 'in_progress', 'remediated', 'verified', 'risk_accepted', 'false_positive', 'withdrawn')),
  status_reason text,
  status_changed_at timestamptz(3) not null,
  status_changed_by text,
  assurance text check (assurance in ('declared', 'artifact', 'scan_only', 'scan_after_claim', 'independent')),
  acceptance_owner text,
  acceptance_expires_at timestamptz(3),
  justification text,
  -- 5 critical, 4 high, 3 medium, 2 low, 1 info, 0 unknown
  severity smallint not null check (severity between 0 and 5),
  source_severity smallint not null check (source_severity between 0 and 5),
  severity_override smallint check (severity_override between 0 and 5),
  severity_override_by text,
  severity_override_reason text,
  vulnerability_ids text[] not null default '{}',
  cwes integer[] not null default '{}',
  cvss_version text,
  cvss_vector text,
  cvss_score real,
  epss real,
  epss_percentile real,
  epss_date text,
  kev boolean not null default false,
  kev_due_date text,
  risk_score real not null default 0 check (risk_score between 0 and 100),
  component text,
  location jsonb not null default '{}',
  text_id bytea,
  source_ids uuid[] not null default '{}',
  first_seen timestamptz(3) not null,
  last_seen timestamptz(3) not null,
  -- infinity: no deadline
  due_at timestamptz(3) not null default 'infinity',
  -- From when the deadline counts: the first sight, or when a scan saw it again.
  clock_from timestamptz(3) not null default now(),
  closed_at timestamptz(3),
  reopen_count integer not null default 0,
  tags text[] not null default '{}',
  search tsvector not null default '',
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  unique (org_id, asset_id, weakness, place),
  foreign key (org_id, asset_id) references assets (org_id, id),
  check (severity = coalesce(severity_override, source_severity)),
  check ((status = 'risk_accepted') = (acceptance_expires_at is not null)),
  check (status <> 'risk_accepted' or (acceptance_owner is not null and status_reason is not null)),
  check (status <> 'false_positive' or justification is not null),
  check ((status in ('remediated', 'verified')) = (assurance is not null)),
  check ((status in ('verified', 'risk_accepted', 'false_positive', 'withdrawn')) = (closed_at is not null))
);
create index findings_by_risk on findings (org_id, risk_score, id);
-- What it includes is what the statistics read: they need not touch the rows.
create index findings_by_status on findings (org_id, status, risk_score, id) include (severity, first_seen, due_at, closed_at);
create index findings_by_severity on findings (org_id, severity, id);
create index findings_by_first_seen on findings (org_id, first_seen, id);
create index findings_by_last_seen on findings (org_id, last_seen, id);
create index findings_by_created on findings (org_id, created_at, id);
create index findings_by_updated on findings (org_id, updated_at, id);
create index findings_by_due on findings (org_id, due_at, id);
create index findings_by_component on findings (org_id, lower(component) text_pattern_ops) where component is not null;
create index findings_by_epss on findings (org_id, epss) where epss is not null;
create index findings_by_kev on findings (org_id, risk_score, id) where kev;
create index findings_by_assurance on findings (org_id, assurance, risk_score, id) where assurance is not null;
create index findings_by_expiry on findings (org_id, acceptance_expires_at) where status = 'risk_accepted';
-- One index for everything that is a word: v:<vulnerability> k:<cwe> t:<tag> p:<provider> a:<type of asset> w:<word>
create index findings_by_word on findings using gin (search) with (fastupdate = on);

-- What one source says about a finding. One finding, many sightings.
create table sightings (
  org_id uuid not null,
  finding_id uuid not null,
  source_id uuid not null,
  external_id text,
  state text not null check (state in ('present', 'absent', 'unknown')),
  severity smallint not null,
  tool_severity text,
  suppressed boolean not null default false,
  -- Of all that the source says; the same content is not written again.
  content bytea not null,
  first_seen timestamptz(3) not null,
  last_seen timestamptz(3) not null,
  -- The last run that said something about it, and the last that saw it.
  last_import_id uuid,
  seen_import_id uuid,
  primary key (org_id, finding_id, source_id),
  foreign key (org_id, finding_id) references findings (org_id, id)
);
create index sightings_by_external_id on sightings (org_id, source_id, external_id) where external_id is not null;
-- By which an import recognises what it need not look at again.
create index sightings_by_content on sightings using hash (content);

-- The newest run of a source that looked at an asset: an older report that comes in later concludes nothing from what it does not show.
create table source_coverage (
  org_id uuid not null,
  source_id uuid not null,
  asset_id uuid not null,
  import_id uuid not null,
  seen_at timestamptz(3) not null,
  complete boolean not null,
  primary key (org_id, source_id, asset_id),
  foreign key (org_id, source_id) references sources (org_id, id),
  foreign key (org_id, asset_id) references assets (org_id, id)
);

create table finding_history (
  org_id uuid not null,
  finding_id uuid not null,
  id uuid not null,
  occurred_at timestamptz(3) not null default now(),
  actor_type text not null,
  actor_id text,
  actor_name text not null,
  import_id uuid,
  action text not null,
  before jsonb not null default '{}',
  after jsonb not null default '{}',
  reason text,
  primary key (org_id, finding_id, id),
  foreign key (org_id, finding_id) references findings (org_id, id)
);

create table imports (
  org_id uuid not null references organizations (id),
  id uuid not null,
  source_id uuid,
  status text not null check (status in ('queued', 'running', 'succeeded', 'failed', 'needs_confirmation', 'discarded')),
  format text,
  filename text,
  sha256 text not null,
  bytes bigint not null,
  compressed boolean not null default false,
  scan_scope jsonb not null default '{}',
  dry_run boolean not null default false,
  bytes_read bigint not null default 0,
  records_read bigint not null default 0,
  received integer not null default 0,
  created integer not null default 0,
  updated integer not null default 0,
  unchanged integer not null default 0,
  reopened integer not null default 0,
  rejected integer not null default 0,
  closed integer not null default 0,
  rejections jsonb not null default '[]',
  notes jsonb not null default '[]',
  error text,
  created_by text not null,
  actor jsonb not null,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  version integer not null default 1,
  primary key (org_id, id),
  check (received = created + updated + unchanged + reopened + rejected)
);
create index imports_by_created on imports (org_id, created_at, id);

-- What a held run would have closed, until a person confirms or discards it.
create table import_closures (
  org_id uuid not null,
  import_id uuid not null,
  finding_id uuid not null,
  primary key (org_id, import_id, finding_id),
  foreign key (org_id, import_id) references imports (org_id, id)
);

-- Where COPY goes: it refuses tables with policies. Rows live only while their import runs; nobody else reads them.
create unlogged table import_assets (
  org_id uuid not null,
  import_id uuid not null,
  asset_key text not null,
  new_id uuid not null,
  type text not null,
  name text not null,
  keys text[] not null,
  ranks smallint[] not null,
  asset_id uuid
);
create index import_assets_by_import on import_assets (org_id, import_id, asset_key);

create unlogged table import_rows (
  org_id uuid not null,
  import_id uuid not null,
  n integer not null,
  new_id uuid not null,
  asset_key text not null,
  weakness text not null,
  aliases text[] not null,
  place bytea not null,
  external_id text,
  title text not null,
  severity smallint not null,
  tool_severity text,
  suppressed boolean not null,
  present boolean not null,
  vulnerability_ids text[] not null,
  cwes integer[] not null,
  cvss_version text,
  cvss_vector text,
  cvss_score real,
  component text,
  location jsonb not null,
  text_id bytea,
  tags text[] not null,
  words text[] not null,
  content bytea not null,
  first_seen timestamptz(3),
  last_seen timestamptz(3)
);
create index import_rows_by_import on import_rows (org_id, import_id, n);

create unlogged table import_texts (
  org_id uuid not null,
  import_id uuid not null,
  text_id bytea not null,
  description text,
  solution text,
  reference_urls text[] not null
);
create index import_texts_by_import on import_texts (org_id, import_id);

-- Records that say, word for word, what is known already.
create unlogged table import_seen (
  org_id uuid not null,
  import_id uuid not null,
  finding_id uuid not null,
  content bytea not null,
  last_seen timestamptz(3)
);
create index import_seen_by_import on import_seen (org_id, import_id, finding_id);

-- The rows of one weakness on one asset at one place together, beside what is known of it.
create unlogged table import_groups (
  org_id uuid not null,
  import_id uuid not null,
  n integer not null,
  rows integer not null,
  asset_id uuid not null,
  weakness text not null,
  place bytea not null,
  external_id text,
  present boolean not null,
  content bytea not null,
  seen_at timestamptz(3) not null,
  finding_id uuid not null,
  outcome text not null
);
create index import_groups_by_import on import_groups (org_id, import_id, finding_id);

do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array['sources', 'assets', 'asset_keys', 'vulnerability_aliases', 'finding_texts', 'findings', 'sightings', 'source_coverage', 'finding_history', 'imports', 'import_closures'] loop
    execute format('alter table %I enable row level security', tenant_table);
    execute format('alter table %I force row level security', tenant_table);
    execute format(
      'create policy tenant on %I to rrs_app using (org_id = current_setting(''app.org_id'')::uuid) with check (org_id = current_setting(''app.org_id'')::uuid)',
      tenant_table
    );
    execute format('create policy system on %I to rrs_system using (true) with check (true)', tenant_table);
    execute format('grant select, insert, update, delete on %I to rrs_app, rrs_system', tenant_table);
  end loop;
end
$$;
revoke delete on findings, sightings, finding_history, imports from rrs_app, rrs_system;
revoke update on finding_history from rrs_app, rrs_system;
create trigger insert_only before update or delete or truncate on finding_history for each statement execute function refuse_change();
grant select, insert, update, delete on import_assets, import_rows, import_texts, import_seen, import_groups to rrs_app, rrs_system;
grant select on vulnerabilities to rrs_app;
grant select, insert, update on vulnerabilities to rrs_system;

-- A policy goes before every condition whose operator PostgreSQL does not know to be leakproof, and so keeps indexes on words, prefixes and
-- expressions from being used. These views have the condition of the policy as a plain one, for queries that need such an index. They see
-- the rows as the owner of the tables does, for whom there is a policy to read, and like the policies they fail when no organization is set.
create policy views on findings for select to rrs_owner using (true);
create policy views on assets for select to rrs_owner using (true);
create view tenant_findings as select * from findings where org_id = current_setting('app.org_id')::uuid;
create view tenant_assets as select * from assets where org_id = current_setting('app.org_id')::uuid;
grant select on tenant_findings, tenant_assets to rrs_app;

-- UUIDv7 for rows that are made set-based; all others get theirs from the program.
create function new_id() returns uuid language sql volatile as $$
  select encode(
    set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1),
    'hex')::uuid
$$;
grant execute on function new_id to rrs_app, rrs_system;

-- Staged rows come and go faster than statistics are gathered; without them the planner takes thousands of rows for one. Who finds the
-- table locked by another import does without: its plans are then slower, not wrong.
create function analyze_staging() returns void language plpgsql security definer set search_path = rrs as $$
begin
  analyze (skip_locked) import_assets (org_id, import_id, asset_key, asset_id);
  analyze (skip_locked) import_rows (org_id, import_id, n, asset_key, weakness, place, external_id, text_id);
  analyze (skip_locked) import_seen (org_id, import_id, finding_id);
end
$$;
revoke all on function analyze_staging from public;
grant execute on function analyze_staging to rrs_app;

create function analyze_groups() returns void language plpgsql security definer set search_path = rrs as $$
begin
  analyze (skip_locked) import_groups (org_id, import_id, n, asset_id, finding_id, outcome);
end
$$;
revoke all on function analyze_groups from public;
grant execute on function analyze_groups to rrs_app;

-- Tables that grew by half since they were last looked at, before autovacuum comes round to them: the first large imports of an organization.
create function analyze_grown() returns void language plpgsql security definer set search_path = rrs as $$
declare
  grown regclass;
begin
  for grown in
    select c.oid from pg_class c
    where c.oid = any (array['findings', 'sightings', 'assets', 'asset_keys', 'finding_texts', 'finding_history', 'vulnerability_aliases']::regclass[])
      and pg_relation_size(c.oid) > 8192 * (16 + 1.5 * greatest(c.relpages, 0))
  loop
    execute format('analyze (skip_locked) %s', grown);
  end loop;
end
$$;
revoke all on function analyze_grown from public;
grant execute on function analyze_grown to rrs_app;
