-- min_compatible_version: 1
-- The whole schema. Later migrations change it in small steps.
--
-- Roles: rrs_owner owns the tables. rrs_app serves requests and sees the rows of the organization in app.org_id. rrs_system serves sign-in,
-- schedules, workers and backups and sees all rows. rrs_import can only add rows to the staging tables of imports.
--
-- Rules for every tenant table, which a test checks: org_id comes first in the primary key, in unique constraints and in foreign keys, and
-- row-level security is enabled and forced.

-- Puts a table under row-level security and grants the privileges to both roles. Reading app.org_id fails when no organization is set.
create function make_tenant_table(tenant_table regclass, privileges text) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', tenant_table);
  execute format('alter table %s force row level security', tenant_table);
  execute format(
    'create policy tenant on %s to rrs_app using (org_id = current_setting(''app.org_id'')::uuid) with check (org_id = current_setting(''app.org_id'')::uuid)',
    tenant_table
  );
  execute format('create policy system on %s to rrs_system using (true) with check (true)', tenant_table);
  execute format('grant %s on %s to rrs_app, rrs_system', privileges, tenant_table);
end
$$;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% accepts only inserts', tg_table_name using errcode = 'restrict_violation';
end
$$;

-- Privileges already keep rrs_app and rrs_system from changing these rows. The trigger also stops the owner.
create function make_insert_only(table_name regclass) returns void language plpgsql as $$
begin
  execute format('create trigger insert_only before update or delete or truncate on %s for each statement execute function refuse_change()', table_name);
end
$$;

revoke all on function make_tenant_table, make_insert_only, refuse_change from public;

-- Generates a UUIDv7 for rows that are created set-based. All other ids come from the program.
create function new_id() returns uuid language sql volatile as $$
  select encode(
    set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1),
    'hex')::uuid
$$;
grant execute on function new_id to rrs_app, rrs_system;

-- Merging what several sources say, in an order that does not depend on which of them spoke first.

create aggregate concat_arrays(anycompatiblearray) (sfunc = array_cat, stype = anycompatiblearray);

create function distinct_sorted(anyarray) returns anyarray language sql immutable parallel safe as $$
  select coalesce(array_agg(distinct item order by item), '{}') from unnest($1) as item
$$;

-- CVE ids come first, then GHSA ids.
create function distinct_ids(text[]) returns text[] language sql immutable parallel safe as $$
  select coalesce(array_agg(id order by case when id like 'CVE-%' then 0 when id like 'GHSA-%' then 1 else 2 end, id), '{}') from (select distinct unnest($1) as id) ids
$$;

-- Adds the fields of a second location that the first one lacks. What belongs to a path or to a URL is never combined with that of another.
create function fill_location(first jsonb, second jsonb) returns jsonb language sql immutable parallel safe as $$
  select case when first is null then second else (second
    - case when first ? 'path' then '{line,end_line,snippet,fingerprint}'::text[] else '{}' end
    - case when first ? 'url' then '{method,parameter}'::text[] else '{}' end
    - case when first ? 'version' then '{purl}'::text[] else '{}' end) || first end
$$;
create aggregate merged_location(jsonb) (sfunc = fill_location, stype = jsonb);

-- Whether the title that a source states is only made of its ids and the component, as formats make one if the report has none.
create function has_made_up_title(said jsonb) returns boolean language sql immutable parallel safe as $$
  select coalesce(said->'vulnerability_ids' ? name or name = said->>'rule', false) or title ~ '^(Check|Control|Plugin|QID) \S+$'
  from (select said->>'title' as title) stated,
    lateral (select regexp_replace(coalesce(replace(title, ' in ' || (said->'location'->>'component'), ''), title), ' in \S+$', '') as name) named
$$;
grant execute on function distinct_sorted, distinct_ids, fill_location, has_made_up_title to rrs_app, rrs_system;

-- ----------------------------------------------------------------------------------------------------
-- Organizations
-- ----------------------------------------------------------------------------------------------------

-- Tenants. The id is the organization's own key, so this table has no org_id.
create table organizations (
  id uuid primary key,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null check (length(name) between 1 and 200),
  policy jsonb not null default '{}',
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

alter table organizations enable row level security;
alter table organizations force row level security;
create policy tenant on organizations to rrs_app using (id = current_setting('app.org_id')::uuid) with check (id = current_setting('app.org_id')::uuid);
create policy system on organizations to rrs_system using (true) with check (true);
grant select, update on organizations to rrs_app;
grant select, insert, update on organizations to rrs_system;

create table members (
  org_id uuid not null references organizations (id),
  id uuid not null,
  email text not null check (email = lower(email) and length(email) between 3 and 320),
  name text not null check (length(name) between 1 and 200),
  role text not null check (role in ('owner', 'admin', 'analyst', 'viewer', 'auditor')),
  password_hash text,
  -- Who chose the password, if that is not the member, who must change it before anything else.
  password_chosen_by text,
  failed_sign_ins integer not null default 0,
  locked_until timestamptz(3),
  -- The same for sign-ins that name no organization, with an e-mail address that several organizations have.
  failed_shared_sign_ins integer not null default 0,
  shared_locked_until timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  unique (org_id, email)
);
create index members_by_created on members (org_id, created_at, id);
create index members_by_email on members (email);
select make_tenant_table('members', 'select, insert, update, delete');

create table sessions (
  org_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  token_hash bytea not null,
  method text not null check (method in ('password', 'oidc')),
  -- Where the member signed in, so that members recognize their sessions.
  address text,
  user_agent text,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  unique (org_id, token_hash),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
create index sessions_by_member on sessions (org_id, member_id);
create index sessions_by_expiry on sessions (expires_at);
select make_tenant_table('sessions', 'select, insert, update, delete');

-- The member behind a subject of the identity provider, stored when a token with the member's verified e-mail address is first used. From then on no
-- other subject of the issuer can become the member. Not a foreign key: whoever was a member remains the same person afterwards.
create table sso_subjects (
  org_id uuid not null references organizations (id),
  issuer text not null,
  subject text not null,
  member_id uuid not null,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, issuer, subject),
  unique (org_id, issuer, member_id)
);
create index sso_subjects_by_subject on sso_subjects (issuer, subject);
select make_tenant_table('sso_subjects', 'select, insert, update, delete');

-- One-time links with which a member chooses a password. Without a member: the key of the setup, with which the first person becomes an owner.
create table invitations (
  org_id uuid not null references organizations (id),
  id uuid not null,
  member_id uuid,
  token_hash bytea not null,
  created_by text not null,
  -- Whoever created the link may know it. It works only while they could create it again.
  creator_member_id uuid,
  creator_key_id uuid,
  -- Null for the setup, which ends with the first member.
  expires_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  unique (org_id, token_hash),
  unique (org_id, member_id),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
select make_tenant_table('invitations', 'select, insert, update, delete');

create table api_keys (
  org_id uuid not null references organizations (id),
  id uuid not null,
  name text not null check (length(name) between 1 and 200),
  role text not null check (role in ('owner', 'admin', 'analyst', 'viewer', 'auditor')),
  prefix text not null,
  token_hash bytea not null,
  -- The member who created the key, directly or through another key. Not a foreign key: the key's history outlives the member.
  owner_member_id uuid,
  -- The person whom the key counts as, if that is neither a member nor the key itself: the key or the SSO subject that created it.
  person text,
  person_name text,
  created_by text not null,
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  unique (org_id, token_hash),
  check ((person is null) = (person_name is null))
);
create index api_keys_by_created on api_keys (org_id, created_at, id);
create index api_keys_by_owner on api_keys (org_id, owner_member_id) where owner_member_id is not null;
select make_tenant_table('api_keys', 'select, insert, update, delete');

-- ----------------------------------------------------------------------------------------------------
-- Audit trail and events
-- ----------------------------------------------------------------------------------------------------

-- Filters, columns and sort order of a list under a name. Without an owner, the view is the organization's. The owner is a person: a member, or the
-- credential of somebody who is not one.
create table saved_views (
  org_id uuid not null references organizations (id),
  id uuid not null,
  list text not null check (list in ('findings', 'work_items', 'assets')),
  name text not null check (length(name) between 1 and 100),
  query text not null check (length(query) <= 4000),
  columns text[] not null default '{}',
  sort text,
  owner text,
  position integer not null default 0,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, id)
);
create unique index saved_views_by_name on saved_views (org_id, list, coalesce(owner, ''), lower(name));
create index saved_views_by_position on saved_views (org_id, position, id);
select make_tenant_table('saved_views', 'select, insert, update, delete');

-- The preferences of a person: a JSON object, stored as text.
create table preferences (
  org_id uuid not null references organizations (id),
  person text not null,
  value text not null check (length(value) <= 16384),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, person)
);
select make_tenant_table('preferences', 'select, insert, update, delete');

create table audit_events (
  org_id uuid not null references organizations (id),
  id uuid not null,
  occurred_at timestamptz(3) not null default now(),
  actor_type text not null check (actor_type in ('api_key', 'member', 'oidc', 'system')),
  actor_id text,
  actor_name text not null,
  -- The person behind the credential. Null for the service itself and for connections.
  person text,
  person_name text,
  action text not null,
  object_type text not null,
  object_id text not null,
  before jsonb,
  after jsonb,
  request_id text,
  address text,
  primary key (org_id, id)
);
create index audit_events_by_time on audit_events (org_id, occurred_at, id);
create index audit_events_by_object on audit_events (org_id, object_id, occurred_at, id);
create index audit_events_by_object_type on audit_events (org_id, object_type, occurred_at, id);
create index audit_events_by_request on audit_events (org_id, request_id, occurred_at, id) where request_id is not null;
create index audit_events_by_actor on audit_events (org_id, actor_id, occurred_at, id);
create index audit_events_by_person on audit_events (org_id, person, occurred_at, id) where person is not null;
create index audit_events_by_action on audit_events (org_id, action, occurred_at, id);
select make_tenant_table('audit_events', 'select, insert');
select make_insert_only('audit_events');

-- The transaction that wrote an event is kept in xact. Ids are created before a transaction commits and in many processes, so an event with a
-- smaller id can become visible later. Events of transactions older than every running transaction that may write events of the organization are
-- complete: nothing is added before (xact, id) below that point.
create table events (
  org_id uuid not null references organizations (id),
  id uuid not null,
  occurred_at timestamptz(3) not null default now(),
  type text not null,
  subject text not null,
  data jsonb not null,
  xact bigint not null default (pg_current_xact_id()::text::bigint),
  primary key (org_id, id)
);

create index events_by_xact on events (org_id, xact, id);
select make_tenant_table('events', 'select, insert');
-- Old events are deleted, as the policy of the organization says. The audit trail stays.
create trigger insert_only before update or truncate on events for each statement execute function refuse_change();
grant delete on events to rrs_system;

-- One import of an organization at a time. A transaction that has asked for this lock writes for its organization only.
create function import_lock_of(org uuid) returns integer language sql immutable as $$ select hashtext(org::text) & 2147483647 $$;
create function take_import_lock(org uuid) returns void language sql volatile as $$ select pg_advisory_xact_lock(5395026, import_lock_of(org)) $$;

-- For each organization, the transaction below which no event of it can appear any more. All older ones have ended, have asked for the import lock of
-- another organization, or are in another database of the server. The statement that calls it sees what has ended, because the running transactions
-- are those of its snapshot.
create function events_horizons(orgs uuid[]) returns table (org_id uuid, horizon bigint) language sql stable as $$
  with running as materialized (
    select active.xact::text::bigint as xact, asked.objid::integer as import_lock
    from pg_snapshot_xip(pg_current_snapshot()) active (xact)
    left join pg_locks own on own.locktype = 'transactionid' and own.mode = 'ExclusiveLock' and own.transactionid = active.xact::xid
    left join pg_locks asked on asked.virtualtransaction = own.virtualtransaction and asked.locktype = 'advisory' and asked.classid = 5395026 and asked.objsubid = 2
    left join pg_stat_activity session on session.pid = own.pid
    where session.datname is null or session.datname = current_database()
  )
  select org, coalesce(
    (select min(xact) from running where import_lock is null or import_lock = import_lock_of(org)), pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
  from unnest(orgs) org
$$;

create table webhooks (
  org_id uuid not null references organizations (id),
  id uuid not null,
  url text not null check (length(url) between 1 and 2000),
  event_types text[] not null check (cardinality(event_types) between 1 and 50),
  description text check (length(description) <= 500),
  enabled boolean not null,
  disabled_at timestamptz(3),
  disabled_reason text,
  -- Encrypted.
  secret bytea not null,
  secret_hint text not null,
  previous_secret bytea,
  previous_secret_until timestamptz(3),
  -- The last event that was fanned out to deliveries or skipped.
  seen_xact bigint not null default (pg_current_xact_id()::text::bigint),
  seen_id uuid not null default 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  -- One process at a time delivers to a webhook.
  lease_id uuid,
  leased_until timestamptz(3),
  failures integer not null default 0,
  failing_since timestamptz(3),
  paused_until timestamptz(3),
  last_success_at timestamptz(3),
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  check (enabled = (disabled_reason is null) and enabled = (disabled_at is null)),
  check ((previous_secret is null) = (previous_secret_until is null))
);
create index webhooks_by_created on webhooks (org_id, created_at, id);
select make_tenant_table('webhooks', 'select, insert, update, delete');

create table webhook_deliveries (
  org_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed')),
  attempts smallint not null default 0,
  -- Also null while a test delivery waits for its response.
  next_attempt_at timestamptz(3),
  last_attempt_at timestamptz(3),
  duration_ms integer,
  response_status smallint,
  response_excerpt text,
  error text,
  replay_of uuid,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  foreign key (org_id, webhook_id) references webhooks (org_id, id) on delete cascade,
  check (status = 'pending' or next_attempt_at is null)
);
create index webhook_deliveries_due on webhook_deliveries (org_id, webhook_id, next_attempt_at, event_id) where status = 'pending';
create index webhook_deliveries_by_created on webhook_deliveries (org_id, webhook_id, created_at, id);
create index webhook_deliveries_by_status on webhook_deliveries (org_id, webhook_id, status, created_at, id);
select make_tenant_table('webhook_deliveries', 'select, insert, update, delete');

-- For a database that was moved to another server with pg_dump: transaction ids of the old server mean nothing on the new one. All of them
-- become negative and keep their order.
create function rebase_events(newest bigint) returns void language plpgsql security definer set search_path = rrs, pg_temp as $$
begin
  alter table events no force row level security;
  alter table events disable trigger insert_only;
  update events set xact = xact - newest - 1;
  alter table events enable trigger insert_only;
  alter table events force row level security;
  alter table webhooks no force row level security;
  update webhooks set seen_xact = seen_xact - newest - 1;
  alter table webhooks force row level security;
end
$$;
revoke all on function rebase_events from public;
grant execute on function rebase_events to rrs_system;

-- ----------------------------------------------------------------------------------------------------
-- HTTP, jobs and the instance
-- ----------------------------------------------------------------------------------------------------

create table idempotency_keys (
  org_id uuid not null references organizations (id),
  key_hash bytea not null,
  request_hash bytea not null,
  response bytea,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, key_hash)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
select make_tenant_table('idempotency_keys', 'select, insert, update, delete');

create table worker_heartbeats (
  worker_id text primary key,
  seen_at timestamptz(3) not null
);

create table instance_secrets (
  name text primary key,
  value bytea not null
);

grant select, insert, update, delete on worker_heartbeats to rrs_system;
grant select, insert on instance_secrets to rrs_system;

-- ----------------------------------------------------------------------------------------------------
-- Assets
-- ----------------------------------------------------------------------------------------------------

create table assets (
  org_id uuid not null references organizations (id),
  id uuid not null,
  type text not null check (type in ('host', 'container_image', 'repository', 'package', 'web_application', 'cloud_resource', 'other')),
  name text not null,
  -- How well the name identifies the asset. A better one replaces it, unless a person chose it (-1).
  name_rank smallint not null default 0,
  -- Words of the name in the search index of findings, if reports use another name. Null: reports use this one.
  name_words text[],
  criticality text not null default 'medium' check (criticality in ('low', 'medium', 'high', 'critical')),
  exposure text not null default 'unknown' check (exposure in ('internet', 'internal', 'unknown')),
  owner text,
  tags text[] not null default '{}',
  retired_at timestamptz(3),
  -- The asset that this one turned out to be.
  merged_into uuid,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, id)
);
create index assets_by_created on assets (org_id, created_at, id);
create index assets_by_name on assets (org_id, (lower(name) collate "C"), id);
create index assets_by_type on assets (org_id, type, created_at, id);
create index assets_by_tag on assets using gin (tags);
create index assets_by_owner on assets (org_id, lower(owner)) where owner is not null;
select make_tenant_table('assets', 'select, insert, update, delete');

-- Issuers of OpenID Connect tokens whose pipelines can import and read without an API key.
create table pipeline_trusts (
  org_id uuid not null references organizations (id),
  id uuid not null,
  name text not null check (length(name) between 1 and 200),
  issuer text not null,
  conditions jsonb not null,
  role text not null check (role in ('analyst', 'viewer')),
  asset_id uuid,
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  foreign key (org_id, asset_id) references assets (org_id, id)
);
create index pipeline_trusts_by_created on pipeline_trusts (org_id, created_at, id);
select make_tenant_table('pipeline_trusts', 'select, insert, update, delete');

-- The names by which an asset is recognized. The rank says how well a name identifies: 0 is its own name, 1 a strong and 2 a weak identifier.
create table asset_keys (
  org_id uuid not null,
  key text not null,
  asset_id uuid not null,
  rank smallint not null,
  primary key (org_id, key, asset_id),
  foreign key (org_id, asset_id) references assets (org_id, id)
);
create index asset_keys_by_asset on asset_keys (org_id, asset_id);
select make_tenant_table('asset_keys', 'select, insert, update, delete');

-- What exists side by side of one asset: branches, environments, release lines. Every asset has the track 0, its default track, which has a row only
-- once it has a name.
create table asset_tracks (
  org_id uuid not null,
  asset_id uuid not null,
  n smallint not null,
  name text not null,
  kind text not null check (kind in ('default', 'named', 'release', 'build', 'pull_request', 'development')),
  -- Whether findings of the track are listed, counted and due.
  counts boolean not null,
  ended_at timestamptz(3),
  ended_by text,
  ended_reason text,
  -- The track that scans of this name belong to since a person found that both are one.
  merged_into smallint,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, asset_id, n),
  unique (org_id, asset_id, name),
  check (merged_into <> n),
  foreign key (org_id, asset_id) references assets (org_id, id)
);
create index asset_tracks_by_name on asset_tracks (org_id, name);
select make_tenant_table('asset_tracks', 'select, insert, update, delete');

-- The builds of an asset that were scanned.
create table asset_versions (
  org_id uuid not null,
  asset_id uuid not null,
  n integer not null,
  track smallint not null,
  name text not null,
  digest text,
  commit text,
  first_scan timestamptz(3) not null,
  last_scan timestamptz(3) not null,
  primary key (org_id, asset_id, n),
  unique nulls not distinct (org_id, asset_id, track, name, digest, commit),
  foreign key (org_id, asset_id) references assets (org_id, id)
);
create index asset_versions_by_digest on asset_versions (org_id, digest) where digest is not null;
select make_tenant_table('asset_versions', 'select, insert, update, delete');

-- Assets that a person found to be one.
create table asset_merges (
  org_id uuid not null,
  id uuid not null,
  from_asset_id uuid not null,
  into_asset_id uuid not null,
  person text,
  person_name text not null,
  reason text,
  -- What moved to the other asset, to move it back.
  moved jsonb not null,
  created_at timestamptz(3) not null default now(),
  undone_at timestamptz(3),
  undone_by text,
  primary key (org_id, id),
  foreign key (org_id, from_asset_id) references assets (org_id, id),
  foreign key (org_id, into_asset_id) references assets (org_id, id),
  check (from_asset_id <> into_asset_id),
  check ((undone_at is null) = (undone_by is null))
);
create index asset_merges_by_from on asset_merges (org_id, from_asset_id);
create index asset_merges_by_into on asset_merges (org_id, into_asset_id);
select make_tenant_table('asset_merges', 'select, insert, update');

-- Tracks of an asset that a person found to be one.
create table asset_track_merges (
  org_id uuid not null,
  id uuid not null,
  asset_id uuid not null,
  from_track smallint not null,
  into_track smallint not null,
  person text,
  person_name text not null,
  reason text,
  -- What moved to the other track, to move it back.
  moved jsonb not null,
  created_at timestamptz(3) not null default now(),
  undone_at timestamptz(3),
  undone_by text,
  primary key (org_id, id),
  foreign key (org_id, asset_id) references assets (org_id, id),
  check (from_track <> into_track),
  check ((undone_at is null) = (undone_by is null))
);
create index asset_track_merges_by_asset on asset_track_merges (org_id, asset_id);
select make_tenant_table('asset_track_merges', 'select, insert, update');

-- ----------------------------------------------------------------------------------------------------
-- Vulnerabilities
-- ----------------------------------------------------------------------------------------------------

-- Knowledge shared by all organizations. Only enrichment writes it. What a report says stays with its organization.
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
  -- CISA's SSVC decision: exploitation (none, poc, active), automatable, technical_impact, date.
  ssvc jsonb,
  exploit_public boolean not null default false,
  updated_at timestamptz(3) not null default now()
);

create index vulnerabilities_by_alias on vulnerabilities using gin (aliases) where aliases <> '{}';
grant select on vulnerabilities to rrs_app;
grant select, insert, update on vulnerabilities to rrs_system;

-- Which tool takes which ids for those of one vulnerability: GHSA-… is CVE-….
create table alias_claims (
  org_id uuid not null references organizations (id),
  alias text not null,
  weakness text not null,
  provider text not null,
  claimed_at timestamptz(3) not null default now(),
  primary key (org_id, alias, weakness, provider)
);
create index alias_claims_by_weakness on alias_claims (org_id, weakness);
select make_tenant_table('alias_claims', 'select, insert, update, delete');

-- The claims that count for all records.
create table vulnerability_aliases (
  org_id uuid not null references organizations (id),
  alias text not null,
  weakness text not null,
  -- Who confirmed it: a knowledge source, two tools that agree, or a person. 'claim': nobody, but a person revoked what a tool claims.
  origin text not null check (origin in ('knowledge', 'sources', 'person', 'claim')),
  confirmed_at timestamptz(3) not null default now(),
  -- The person who added it, and why.
  confirmed_by text,
  confirmed_reason text,
  revoked_at timestamptz(3),
  revoked_by text,
  revoked_reason text,
  primary key (org_id, alias),
  check (alias <> weakness),
  check ((revoked_at is null) = (revoked_by is null)),
  check (origin <> 'claim' or revoked_at is not null)
);
create index vulnerability_aliases_by_weakness on vulnerability_aliases (org_id, weakness);
select make_tenant_table('vulnerability_aliases', 'select, insert, update, delete');

-- ----------------------------------------------------------------------------------------------------
-- Findings
-- ----------------------------------------------------------------------------------------------------

-- Where statements about findings come from: a person, the report files of one tool, a connection.
create table sources (
  org_id uuid not null references organizations (id),
  id uuid not null,
  kind text not null check (kind in ('manual', 'import', 'connection')),
  provider text not null,
  -- The tool that wrote the report, for formats that many tools write.
  tool text not null default '',
  name text not null default '',
  -- The part of a repository that the scans cover. A source says nothing about other parts.
  path text not null default '',
  retired_at timestamptz(3),
  retired_by text,
  retired_reason text,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  unique (org_id, kind, provider, tool, name, path)
);
select make_tenant_table('sources', 'select, insert, update, delete');

-- Long texts, stored once for all findings that share them.
create table finding_texts (
  org_id uuid not null references organizations (id),
  id bytea not null,
  description text,
  solution text,
  reference_urls text[] not null default '{}',
  primary key (org_id, id)
);
select make_tenant_table('finding_texts', 'select, insert, update, delete');

create table findings (
  org_id uuid not null,
  id uuid not null,
  asset_id uuid not null,
  -- Identity within the asset: what the finding is and where it is. Stored, never recomputed from columns that can change.
  weakness text not null,
  identity_key bytea not null,
  asset_type text not null,
  title text not null,
  status text not null check (status in ('open', 'in_progress', 'remediated', 'verified', 'risk_accepted', 'false_positive', 'withdrawn')),
  status_reason text,
  -- Why the status last changed, as a code of findings/reason-codes.ts.
  reason_code text,
  status_changed_at timestamptz(3) not null,
  -- The person who changed the status. Null for scans, connections and the service itself.
  status_changed_by text,
  assurance text check (assurance in ('declared', 'artifact', 'scan_only', 'scan_after_claim', 'independent')),
  acceptance_owner text,
  acceptance_expires_at timestamptz(3),
  compensating_control text,
  justification text check (justification in ('code_not_present', 'code_not_reachable', 'requires_configuration', 'requires_dependency', 'requires_environment',
    'protected_by_compiler', 'protected_at_runtime', 'protected_at_perimeter', 'protected_by_mitigating_control', 'inaccurate_finding')),
  -- 5 critical, 4 high, 3 medium, 2 low, 1 info, 0 unknown
  severity smallint not null check (severity between 0 and 5),
  source_severity smallint not null check (source_severity between 0 and 5),
  -- Who rated the severity, if it is not the tool itself.
  severity_source text,
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
  -- Whether the sources call it known to be exploited. Enrichment does not change this.
  reported_kev boolean not null default false,
  -- When the service learned that it is known to be exploited. Null if it is not.
  kev_since timestamptz(3),
  kev_due_date text,
  risk_score real not null default 0 check (risk_score between 0 and 100),
  exploit_maturity text,
  malicious boolean not null default false,
  fix_state text,
  fix_published_date text,
  -- The tool's id of the check.
  rule text,
  component text,
  -- Ecosystem and name of the component, by which sources meet that do not name both.
  component_key text,
  location jsonb not null default '{}',
  text_id bytea,
  source_ids uuid[] not null default '{}',
  -- How many places the present sightings name.
  place_count integer not null default 1,
  -- Whether lists, statistics and deadlines include the finding. Not those that only pull requests have, and not merged ones.
  listed boolean not null default true,
  merged_into uuid,
  -- Whether the sources differ by two steps of severity or more.
  severity_disputed boolean not null default false,
  first_seen timestamptz(3) not null,
  last_seen timestamptz(3) not null,
  -- 'infinity' means no deadline.
  due_at timestamptz(3) not null default 'infinity',
  -- Start of the deadline: first seen, or reopened by a scan.
  clock_from timestamptz(3) not null default now(),
  closed_at timestamptz(3),
  reopen_count integer not null default 0,
  tags text[] not null default '{}',
  search tsvector not null default '',
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  unique (org_id, asset_id, weakness, identity_key),
  foreign key (org_id, asset_id) references assets (org_id, id),
  check (severity = coalesce(severity_override, source_severity)),
  check ((status = 'risk_accepted') = (acceptance_expires_at is not null)),
  check (status <> 'risk_accepted' or (acceptance_owner is not null and status_reason is not null)),
  check (status = 'risk_accepted' or compensating_control is null),
  check (status <> 'false_positive' or justification is not null),
  check ((status in ('remediated', 'verified')) = (assurance is not null)),
  check ((status in ('verified', 'risk_accepted', 'false_positive', 'withdrawn')) = (closed_at is not null))
);
-- Lists and statistics read only listed findings, so their indexes hold no others.
create index findings_by_risk on findings (org_id, risk_score, id) where listed;
-- The included columns are what the statistics read and what makes findings urgent, so that both use an index-only scan.
create index findings_by_status on findings (org_id, status, risk_score, id) include (severity, first_seen, due_at, closed_at, created_at, kev) where listed;
-- Counts the active findings of assets. The included columns are what the counts read, so that they use an index-only scan.
create index findings_active_by_asset on findings (org_id, asset_id) include (severity, risk_score, due_at) where listed and closed_at is null;
-- Tags are few, and the index finds them without reading all findings.
create index findings_tagged on findings (org_id) include (tags) where listed and tags <> '{}';
create index findings_by_severity on findings (org_id, severity, id) where listed;
create index findings_by_first_seen on findings (org_id, first_seen, id) where listed;
create index findings_by_last_seen on findings (org_id, last_seen, id) where listed;
-- Also finds what an import created, which may be unlisted.
create index findings_by_created on findings (org_id, created_at, id);
create index findings_by_updated on findings (org_id, updated_at, id) where listed;
create index findings_by_due on findings (org_id, due_at, id) where listed;
-- By the last part of the name: some tools leave out the group of `org.apache.logging.log4j:log4j-core`.
create index findings_by_component on findings (org_id, lower(regexp_replace(component, '^.*[:/]', ''))) where component is not null;
create index findings_by_epss on findings (org_id, epss) where epss is not null and listed;
create index findings_by_kev on findings (org_id, risk_score, id) where kev and listed;
create index findings_unlisted on findings (org_id, id) where not listed;
create index findings_by_merge on findings (org_id, merged_into) where merged_into is not null;
create index findings_by_expiry on findings (org_id, acceptance_expires_at) where status = 'risk_accepted';
-- One GIN index for all lexemes: v:<vulnerability> k:<cwe> t:<tag> p:<provider> c:<connection> a:<asset type> w:<word>, and the facets people filter
-- by most often (severity, status, assurance, KEV, disputed severity, fix). Two such filters meet inside one index instead of combining two large bitmaps. The facet
-- lexemes end with the organization's id, so that other organizations' findings do not lengthen their posting lists.
create index findings_by_facet on findings using gin ((search || array_to_tsvector(array['s:' || severity::text || org_id::text, 'x:' || status || org_id::text, 'z:' || coalesce(assurance, '') || org_id::text, 'e:' || kev::text || org_id::text, 'd:' || severity_disputed::text || org_id::text, 'g:' || (coalesce(fix_state = 'available', false) or location ? 'fixed_version')::text || org_id::text]))) with (fastupdate = on);
select make_tenant_table('findings', 'select, insert, update');

-- What one source says about a finding on one track of its asset.
create table sightings (
  org_id uuid not null,
  finding_id uuid not null,
  source_id uuid not null,
  track smallint not null default 0,
  external_id text,
  -- 'unknown': the source or the track has ended, so nothing more will be said.
  state text not null check (state in ('present', 'absent', 'unknown')),
  -- Why the sighting is absent. Only 'gone' proves a fix.
  absence text check (absence in ('gone', 'retracted', 'declared', 'check_retired', 'asset_gone', 'track_ended')),
  -- What weakens the proof that the finding is gone.
  gaps text[],
  severity smallint not null,
  -- The highest severity that the source ever stated. Deadlines in evidence are judged by it.
  peak_severity smallint not null default 0,
  tool_severity text,
  suppressed boolean not null default false,
  -- Digest of everything the source says. A sighting with the same content is not written again.
  content bytea not null,
  -- What the source says. Null while the finding has only this sighting: then the columns of the finding are what the source says. "named" are the ids that
  -- each of its records names, if they differ.
  said jsonb,
  first_seen timestamptz(3) not null,
  last_seen timestamptz(3) not null,
  -- When complete scans between the first and the last sighting did not show the finding. Null: all have shown it, as far as known.
  unseen tstzmultirange,
  -- When a scan that would have seen the finding no longer showed it.
  absent_at timestamptz(3),
  -- When a complete scan last did not show the finding, although this proves nothing.
  missed_at timestamptz(3),
  missed_import_id uuid,
  missed_because text[],
  -- Evidence does not believe the scan that no longer showed the finding, so a later one may replace it.
  doubted boolean not null default false,
  -- The least able scan that saw the finding. Only a scan that is as able can prove that it is gone.
  bar_credentialed boolean,
  bar_knowledge_at timestamptz(3),
  -- The only place of the finding that the source names, for people. Null: the places are in `occurrences`.
  place text,
  -- The last import that said something about the finding, and the last one that saw it.
  last_import_id uuid,
  seen_import_id uuid,
  -- How many records of the source the finding stands for. If one of them is reported as gone, the others may still be there.
  records smallint not null default 1,
  primary key (org_id, finding_id, source_id, track),
  foreign key (org_id, finding_id) references findings (org_id, id),
  check ((state = 'absent') = (absence is not null)),
  check ((state = 'absent') = (absent_at is not null))
);
create index sightings_by_external_id on sightings (org_id, source_id, external_id) where external_id is not null;
-- Imports use it to recognize records that say what is already known.
create index sightings_by_content on sightings using hash (content);
-- Suppressed findings are few. The index finds them without reading the others.
create index sightings_suppressed on sightings (org_id, finding_id) where suppressed and state = 'present';
-- Rows are deleted when two findings are merged of which both have the sighting.
select make_tenant_table('sightings', 'select, insert, update, delete');

-- Where in its asset a finding is: every path, URL, resource or package. Rows exist only for sightings with several places. The one place of any other
-- sighting is `sightings.place`.
create table occurrences (
  org_id uuid not null,
  finding_id uuid not null,
  source_id uuid not null,
  track smallint not null,
  place bytea not null,
  label text not null,
  location jsonb not null,
  state text not null check (state in ('present', 'absent')),
  first_seen timestamptz(3) not null,
  last_seen timestamptz(3) not null,
  primary key (org_id, finding_id, source_id, track, place),
  foreign key (org_id, finding_id, source_id, track) references sightings (org_id, finding_id, source_id, track) on update cascade
);
select make_tenant_table('occurrences', 'select, insert, update, delete');

-- Until when a source has scanned a track of an asset. Sightings that are present and were not missed by the last complete scan were seen by it.
create table source_coverage (
  org_id uuid not null,
  source_id uuid not null,
  asset_id uuid not null,
  track smallint not null default 0,
  import_id uuid not null,
  seen_at timestamptz(3) not null,
  complete_import_id uuid,
  complete_at timestamptz(3),
  -- The build that the last complete scan covered.
  version_n integer,
  -- When the first run of the source that lists its assets left out the track, and when the second one did. Null once it is listed again.
  unlisted_at timestamptz(3),
  gone_at timestamptz(3),
  primary key (org_id, source_id, asset_id, track),
  foreign key (org_id, source_id) references sources (org_id, id),
  foreign key (org_id, asset_id) references assets (org_id, id)
);
select make_tenant_table('source_coverage', 'select, insert, update, delete');

-- What each run covered and how able it was to see findings there.
create table run_assets (
  org_id uuid not null,
  source_id uuid not null,
  asset_id uuid not null,
  track smallint not null,
  import_id uuid not null,
  version_n integer,
  started_at timestamptz(3) not null,
  ended_at timestamptz(3) not null,
  -- Whether a finding that the run does not show is gone, unless another condition fails.
  complete boolean not null,
  -- False while the closures of the run wait for confirmation, and after they were discarded.
  accepted boolean not null,
  credentialed boolean,
  knowledge_at timestamptz(3),
  -- Whether the run lists its checks or files, so that it says nothing about the others.
  selective boolean not null default false,
  -- The name of the track in the report, which can be that of a merged track. Empty if the report names none. Null if it names several of one track.
  track_name text,
  -- The keys by which the report names the asset, if others were merged into it.
  named_keys text[],
  -- The findings that the run showed, if other assets or tracks were merged into this one: each gets its own back when the merge is undone.
  shown uuid[],
  -- What the run looked at of that which has the name of the asset: the platform of the image, the addresses and ids of the machine, or the lock files of the
  -- repository, with spaces between them. Several platforms or machines have commas between them. Null if none is stated.
  variant text,
  -- All digests and ids of the image, and the commit. Tools do not agree on one.
  build_ids text[],
  -- Whether only its address tells which host it was.
  identity_weak boolean not null default false,
  primary key (org_id, source_id, asset_id, track, import_id)
);
create index run_assets_by_import on run_assets (org_id, import_id);
create index run_assets_by_asset on run_assets (org_id, asset_id, track);
select make_tenant_table('run_assets', 'select, insert, update, delete');

-- What a run lists, for reports that arrive later: checks, files and components as hashes, and ports as protocol, first and last one. `other` says that the run was restricted in a way that is not stored.
create table run_lists (
  org_id uuid not null,
  import_id uuid not null,
  kind text not null check (kind in ('checks', 'files', 'components', 'ports', 'unread', 'skipped', 'hidden', 'left_out', 'restrictions', 'too_long')),
  entries integer[] not null,
  primary key (org_id, import_id, kind)
);
select make_tenant_table('run_lists', 'select, insert, update, delete');

create table finding_history (
  org_id uuid not null,
  finding_id uuid not null,
  id uuid not null,
  occurred_at timestamptz(3) not null default now(),
  actor_type text not null,
  actor_id text,
  actor_name text not null,
  -- The person behind the credential. Null for the service itself and for connections.
  person text,
  person_name text,
  import_id uuid,
  request_id text,
  action text not null,
  before jsonb not null default '{}',
  after jsonb not null default '{}',
  reason text,
  primary key (org_id, finding_id, id),
  foreign key (org_id, finding_id) references findings (org_id, id)
);
create index finding_history_by_import on finding_history (org_id, import_id, finding_id) where import_id is not null;
select make_tenant_table('finding_history', 'select, insert');
select make_insert_only('finding_history');

-- Findings that were found to be one: `a` was merged into `b`. Kept across imports until it is revoked.
create table identity_rules (
  org_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('by_person', 'asset_merge', 'alias', 'source_package', 'component')),
  a uuid not null,
  b uuid not null,
  -- The person who decided it. Null for imports.
  person text,
  person_name text,
  reason text,
  -- The merge of two assets that made it necessary.
  asset_merge_id uuid,
  -- Both findings with their sightings and occurrences before the merge, to separate them again.
  undo jsonb not null,
  created_at timestamptz(3) not null default now(),
  revoked_at timestamptz(3),
  revoked_by text,
  primary key (org_id, id),
  foreign key (org_id, a) references findings (org_id, id),
  foreign key (org_id, b) references findings (org_id, id),
  check (a <> b),
  check ((revoked_at is null) = (revoked_by is null))
);
create unique index identity_rules_by_a on identity_rules (org_id, a) where revoked_at is null;
create index identity_rules_revoked_by_a on identity_rules (org_id, a) where revoked_at is not null;
create index identity_rules_by_b on identity_rules (org_id, b);
create index identity_rules_by_asset_merge on identity_rules (org_id, asset_merge_id) where asset_merge_id is not null;
select make_tenant_table('identity_rules', 'select, insert, update');

-- Which source package a distribution's package is built from, as reports of the organization state it.
create table source_packages (
  org_id uuid not null references organizations (id),
  -- Type of package URL: deb, rpm, apk.
  ecosystem text not null,
  -- The release of the distribution, such as debian-12. Empty if reports do not name it.
  distro text not null,
  binary_package text not null,
  source_package text not null,
  -- The tool and the import that it was learned from.
  provider text not null,
  import_id uuid not null,
  learned_at timestamptz(3) not null default now(),
  primary key (org_id, ecosystem, binary_package, distro, source_package),
  check (binary_package <> source_package)
);
select make_tenant_table('source_packages', 'select, insert, update, delete');

-- What people decided about findings: accepted risks and false positives. Under the four-eyes policy an acceptance is requested first, and becomes
-- active when a second person approves it.
create table decisions (
  org_id uuid not null,
  finding_id uuid not null,
  id uuid not null,
  kind text not null check (kind in ('acceptance', 'false_positive')),
  state text not null check (state in ('requested', 'active', 'rejected', 'void', 'ended')),
  scope text not null default 'places' check (scope in ('places', 'finding')),
  person text,
  person_name text not null,
  approver text,
  approver_name text,
  approver_reason text,
  reason text,
  owner text,
  expires_at timestamptz(3),
  -- What lowers the accepted risk meanwhile.
  compensating_control text,
  justification text,
  -- The severity and the KEV listing that the decision is about.
  severity smallint not null check (severity between 0 and 5),
  kev boolean not null,
  -- The places that the decision covers.
  places text[],
  requested_at timestamptz(3) not null default now(),
  -- When the decision became active or was rejected.
  decided_at timestamptz(3),
  ended_at timestamptz(3),
  -- A code of findings/reason-codes.ts.
  ended_reason text,
  -- The decision about a finding that was merged into this one.
  copy_of uuid,
  primary key (org_id, finding_id, id),
  foreign key (org_id, finding_id) references findings (org_id, id),
  check (kind <> 'acceptance' or (owner is not null and expires_at is not null and reason is not null)),
  check (kind = 'acceptance' or compensating_control is null),
  check (state not in ('active', 'rejected') or decided_at is not null),
  check ((state in ('void', 'ended')) = (ended_at is not null)),
  -- Four eyes: nobody approves their own request.
  check (approver is null or approver is distinct from person)
);
-- A finding has at most one active decision, and one request that may replace it.
create unique index decisions_current on decisions (org_id, finding_id, state) where state in ('requested', 'active');
create index decisions_requested on decisions (org_id, requested_at, finding_id) where state = 'requested';
select make_tenant_table('decisions', 'select, insert, update');

create table imports (
  org_id uuid not null references organizations (id),
  id uuid not null,
  source_id uuid,
  -- Set when the import comes from a run of a connection.
  connection_id uuid,
  status text not null check (status in ('queued', 'running', 'succeeded', 'failed', 'needs_confirmation', 'discarded')),
  format text,
  filename text,
  sha256 text not null,
  bytes bigint not null,
  compressed boolean not null default false,
  -- When the stored file was deleted, and who did it. The import stays.
  file_deleted_at timestamptz(3),
  file_deleted_by text,
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
  -- How many findings of each severity were created, reopened and closed.
  by_severity jsonb not null default '{}',
  rejections jsonb not null default '[]',
  notes jsonb not null default '[]',
  -- What the report states about its run: tool version, times, knowledge, names of what was scanned.
  run jsonb not null default '{}',
  -- When the run took place, if it lists the assets that its source has. Others are known to be gone if two such runs in a row leave them out.
  listed_at timestamptz(3),
  -- SHA-256 of the file without the times in it. Null if it has no times, or was not read to its end.
  timeless_digest bytea,
  -- Ids of vulnerabilities that the file of a failed import names. Nobody knows what it says about them.
  names text[] not null default '{}',
  -- Host and digest of the settings with which a connection collected the report.
  settings jsonb,
  -- The trusted pipeline that uploaded the report, as its token identified it.
  pipeline jsonb,
  error text,
  created_by text not null,
  actor jsonb not null,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  version integer not null default 1,
  primary key (org_id, id),
  check ((file_deleted_at is null) = (file_deleted_by is null)),
  -- Records, not findings: several records can be about one finding, and findings change that the report does not show.
  check (received >= unchanged + rejected)
);
create index imports_by_created on imports (org_id, created_at, id);
create index imports_by_content on imports (sha256);
create index imports_with_file on imports (org_id, created_at) where file_deleted_at is null;
create index imports_by_listing on imports (org_id, source_id, listed_at) where listed_at is not null;
create index imports_by_timeless_content on imports (org_id, timeless_digest) where timeless_digest is not null;
select make_tenant_table('imports', 'select, insert, update');

-- Withheld closures: what an import would have closed, until a person confirms or discards it.
create table import_closures (
  org_id uuid not null,
  import_id uuid not null,
  finding_id uuid not null,
  track smallint not null,
  absence text not null,
  absent_at timestamptz(3) not null,
  -- Why the finding stays open. Withheld closures have none.
  blockers text[] not null default '{}',
  gaps text[] not null default '{}',
  primary key (org_id, import_id, finding_id, track)
);
-- The first imports need statistics: see the staging tables.
alter table import_closures alter org_id set (n_distinct = 1), alter import_id set (n_distinct = 1);
insert into import_closures (org_id, import_id, finding_id, track, absence, absent_at) select id, id, gen_random_uuid(), 0, '', now() from gen_random_uuid() id, generate_series(1, 1000);
analyze import_closures;
truncate import_closures;
alter table import_closures add foreign key (org_id, import_id) references imports (org_id, id);
select make_tenant_table('import_closures', 'select, insert, update, delete');

-- What an import did to findings, each of them once. Arrays, because an import can change 100,000 findings and rows of their own would double what it writes.
create table import_changes (
  org_id uuid not null,
  import_id uuid not null,
  -- `unchanged`: only of runs that are not complete, and only of the newest one of each track. Of complete runs, it follows from their sightings.
  kind text not null check (kind in ('created', 'reopened', 'closed', 'updated', 'unchanged')),
  finding_ids uuid[] not null,
  primary key (org_id, import_id, kind),
  foreign key (org_id, import_id) references imports (org_id, id)
);
select make_tenant_table('import_changes', 'select, insert, delete');

-- Row-level security is applied before conditions that PostgreSQL does not know to be leakproof, which keeps GIN, prefix and expression indexes
-- from being used. These views carry the same condition as a plain one, for queries that need such an index. They read with the rights of the
-- owner, who has a policy for it, and fail like the policies do when no organization is set.
create policy views on findings for select to rrs_owner using (true);
create policy views on assets for select to rrs_owner using (true);
-- The computed column comes first, so that `create or replace view` can add columns of the table at the end.
create view tenant_findings as
select search || array_to_tsvector(array['s:' || severity::text || org_id::text, 'x:' || status || org_id::text, 'z:' || coalesce(assurance, '') || org_id::text, 'e:' || kev::text || org_id::text, 'd:' || severity_disputed::text || org_id::text, 'g:' || (coalesce(fix_state = 'available', false) or location ? 'fixed_version')::text || org_id::text]) as facets, findings.*
from findings where org_id = current_setting('app.org_id')::uuid;
-- What the list of assets shows of their findings. What all sources suppress that still see it is not overdue.
create view asset_findings with (security_invoker = true) as
select org_id, asset_id, count(*)::integer as active, (count(*) filter (where severity = 5))::integer as critical, (count(*) filter (where severity = 4))::integer as high,
  (count(*) filter (where due_at < now() and not exists (
    select from sightings s where s.org_id = findings.org_id and s.finding_id = findings.id and s.suppressed and s.state = 'present' and not exists (
      select from sightings o where o.org_id = s.org_id and o.finding_id = s.finding_id and o.state = 'present' and not o.suppressed))))::integer as overdue,
  max(risk_score) as max_risk
from findings where listed and closed_at is null group by org_id, asset_id;
grant select on asset_findings to rrs_app;
create view tenant_assets as select * from assets where org_id = current_setting('app.org_id')::uuid;
grant select on tenant_findings, tenant_assets to rrs_app;

-- ----------------------------------------------------------------------------------------------------
-- Staging tables of imports
-- ----------------------------------------------------------------------------------------------------

-- COPY refuses tables with row-level security, so these have none. rrs_import can only add rows, rrs_app reaches the rows of its organization
-- through the views below, and nobody else has access. Rows live only while their import runs.

create unlogged table import_assets (
  org_id uuid not null,
  import_id uuid not null,
  asset_key text not null,
  new_id uuid not null,
  type text not null,
  name text not null,
  keys text[] not null,
  ranks smallint[] not null,
  name_rank smallint not null,
  track_name text not null,
  -- The track of an older release line that is still maintained, if a higher version was scanned before.
  own_track text,
  track_kind text not null,
  track_counts boolean not null,
  -- Why a finding that the report does not show on the asset is not closed.
  doubt text,
  version_name text,
  digest text,
  commit text,
  variant text,
  build_ids text[] not null,
  -- Whether the name is the one under which people see the asset, the id that an export has of it, and what the report says about the machine.
  stated boolean not null default false,
  stated_id uuid,
  machine_keys text[] not null default '{}',
  asset_id uuid,
  -- Whether only its address tells that it is this asset.
  identity_weak boolean not null default false,
  track smallint not null default 0,
  version_n integer,
  covered boolean not null default false,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  credentialed boolean,
  knowledge_at timestamptz(3)
);
create index import_assets_by_import on import_assets (org_id, import_id, asset_key);
create index import_assets_by_asset on import_assets (org_id, import_id, asset_id);

create unlogged table import_rows (
  org_id uuid not null,
  import_id uuid not null,
  n integer not null,
  new_id uuid not null,
  asset_key text not null,
  weakness text not null,
  aliases text[] not null,
  identity_key bytea not null,
  external_id text,
  title text not null,
  severity smallint not null,
  severity_source text,
  tool_severity text,
  suppressed boolean not null,
  present boolean not null,
  vulnerability_ids text[] not null,
  cwes integer[] not null,
  cvss_version text,
  cvss_vector text,
  cvss_score real,
  epss real,
  epss_percentile real,
  epss_date text,
  reported_kev boolean not null,
  exploit_maturity text,
  malicious boolean not null,
  fix_state text,
  fix_published_date text,
  rule text,
  component text,
  location jsonb not null,
  text_id bytea,
  tags text[] not null,
  words text[] not null,
  component_key text,
  place_label text not null,
  content bytea not null,
  first_seen timestamptz(3),
  last_seen timestamptz(3),
  -- The lists of ids of all records of the group that this one stands for. Null if they are the same.
  named jsonb
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

-- Records that say exactly what is already known.
create unlogged table import_seen (
  org_id uuid not null,
  import_id uuid not null,
  finding_id uuid not null,
  content bytea not null,
  first_seen timestamptz(3),
  last_seen timestamptz(3)
);
create index import_seen_by_import on import_seen (org_id, import_id, finding_id);

-- The records of one weakness at one location of one asset, with the finding they belong to.
create unlogged table import_groups (
  org_id uuid not null,
  import_id uuid not null,
  -- The record that says most, and all records of the group.
  n integer not null,
  members integer[] not null,
  rows integer not null,
  asset_id uuid not null,
  track smallint not null,
  -- Whether findings of the track are listed.
  counts boolean not null,
  version_n integer,
  weakness text not null,
  identity_key bytea not null,
  external_id text,
  present boolean not null,
  content bytea not null,
  seen_at timestamptz(3) not null,
  -- A later scan that would have seen the finding did not show it.
  absent_at timestamptz(3),
  finding_id uuid not null,
  -- Whether the finding has other sightings, so that its columns are merged from all of them.
  is_shared boolean not null,
  -- The only place that the records name. Null if they name several.
  place text,
  -- Whether a scan had shown that the finding was gone from the track, and no source saw it there since.
  was_gone boolean not null default false,
  outcome text not null
);
create index import_groups_by_import on import_groups (org_id, import_id, finding_id);

create aggregate all_elements (anycompatiblearray) (sfunc = array_cat, stype = anycompatiblearray);

create view tenant_import_assets as select * from import_assets where org_id = current_setting('app.org_id')::uuid with local check option;
create view tenant_import_rows as select * from import_rows where org_id = current_setting('app.org_id')::uuid with local check option;
create view tenant_import_texts as select * from import_texts where org_id = current_setting('app.org_id')::uuid with local check option;
create view tenant_import_seen as select * from import_seen where org_id = current_setting('app.org_id')::uuid with local check option;
create view tenant_import_groups as select * from import_groups where org_id = current_setting('app.org_id')::uuid with local check option;
grant insert on import_assets, import_rows, import_texts to rrs_import;
grant select, insert, update, delete on tenant_import_assets, tenant_import_rows, tenant_import_texts, tenant_import_seen, tenant_import_groups to rrs_app;

-- Staged rows come and go faster than autovacuum gathers statistics, so imports gather them. Orders of magnitude are enough, so samples are small. If
-- autovacuum or another import has a table locked, an import goes on with the statistics of earlier ones, and the first imports with those of the
-- examples below. They always say that all rows of a table belong to the same import. Otherwise, the planner would expect one row where there are
-- thousands, and compare each of them with each other one.
do $$
declare
  staging text;
begin
  foreach staging in array array['import_assets', 'import_rows', 'import_texts', 'import_seen', 'import_groups'] loop
    execute format('alter table %I alter org_id set (n_distinct = 1), alter import_id set (n_distinct = 1)', staging);
  end loop;
end
$$;
insert into import_assets (org_id, import_id, asset_key, new_id, type, name, keys, ranks, name_rank, track_name, track_kind, track_counts, build_ids)
select one, one, n::text, gen_random_uuid(), 'host', n::text, array[n::text], '{0}', 0, '', '', n % 2 = 0, '{}' from gen_random_uuid() one, generate_series(1, 1000) n;
insert into import_rows (org_id, import_id, n, new_id, asset_key, weakness, aliases, identity_key, external_id, title, severity, suppressed, present,
  vulnerability_ids, cwes, reported_kev, malicious, component, component_key, location, text_id, tags, words, place_label, content)
select one, one, n, gen_random_uuid(), n::text, n::text, '{}', int4send(n), n::text, n::text, 1 + n % 5, n % 2 = 0, n % 2 = 0,
  '{}', '{}', n % 2 = 0, n % 2 = 0, n::text, n::text, '{}', int4send(n), '{}', '{}', '', int4send(n) from gen_random_uuid() one, generate_series(1, 1000) n;
insert into import_texts (org_id, import_id, text_id, reference_urls) select one, one, int4send(n), '{}' from gen_random_uuid() one, generate_series(1, 1000) n;
insert into import_seen (org_id, import_id, finding_id, content) select one, one, gen_random_uuid(), int4send(n) from gen_random_uuid() one, generate_series(1, 1000) n;
insert into import_groups (org_id, import_id, n, members, rows, asset_id, track, counts, weakness, identity_key, external_id, present, content, seen_at, absent_at,
  finding_id, is_shared, place, was_gone, outcome)
select one, one, n, array[n], 1 + n % 2, gen_random_uuid(), 0, n % 2 = 0, n::text, int4send(n), n::text, n % 2 = 0, int4send(n), now(), case when n % 2 = 0 then now() end,
  gen_random_uuid(), n % 2 = 0, case when n % 2 = 0 then n::text end, n % 2 = 0, case when n % 2 = 0 then 'created' else 'updated' end from gen_random_uuid() one, generate_series(1, 1000) n;
analyze import_assets, import_rows, import_texts, import_seen, import_groups;
truncate import_assets, import_rows, import_texts, import_seen, import_groups;

create function analyze_staging() returns void language plpgsql security definer set search_path = rrs, pg_temp set default_statistics_target = 20 as $$
begin
  analyze (skip_locked) import_assets (org_id, import_id, asset_key);
  analyze (skip_locked) import_rows (org_id, import_id, n, asset_key, weakness, identity_key, external_id, text_id);
  analyze (skip_locked) import_seen (org_id, import_id, finding_id);
end
$$;

-- Once the assets of a report are known. Before, their ids are empty.
create function analyze_assets() returns void language plpgsql security definer set search_path = rrs, pg_temp set default_statistics_target = 20 as $$
begin
  analyze (skip_locked) import_assets (org_id, import_id, asset_key, asset_id, track);
end
$$;

create function analyze_groups() returns void language plpgsql security definer set search_path = rrs, pg_temp set default_statistics_target = 20 as $$
begin
  analyze (skip_locked) import_groups (org_id, import_id, n, asset_id, finding_id, outcome);
end
$$;

-- Closures are deleted when they are applied, so that the table is empty between imports.
create function analyze_closures() returns void language plpgsql security definer set search_path = rrs, pg_temp set default_statistics_target = 20 as $$
begin
  analyze (skip_locked) import_closures;
end
$$;

-- Analyzes what imports and merges join in tables that grew by half since the last time, before autovacuum gets to them. This matters for an organization's first
-- imports, large or many. Small tables count as well: one of a thousand rows that is believed to have one is compared with each of 100,000 records. Returns whether findings or sightings were among them: then `analyze_findings` completes their statistics after the import.
create function analyze_grown() returns boolean language plpgsql security definer set search_path = rrs, pg_temp set default_statistics_target = 20 as $$
declare
  grown regclass;
  found_any boolean := false;
begin
  for grown in
    select c.oid from pg_class c
    where c.oid = any (array['findings', 'sightings', 'occurrences', 'assets', 'asset_keys', 'asset_tracks', 'asset_versions', 'source_coverage', 'run_assets',
        'finding_texts', 'finding_history', 'vulnerability_aliases', 'identity_rules']::regclass[])
      and pg_relation_size(c.oid) > 8192 * (4 + 1.5 * greatest(c.relpages, 0))
  loop
    if grown = 'findings'::regclass then
      analyze (skip_locked) findings (org_id, id, asset_id, weakness, identity_key, component_key, status, severity, listed, merged_into);
      found_any := true;
    elsif grown = 'sightings'::regclass then
      analyze (skip_locked) sightings (org_id, finding_id, source_id, track, external_id, state, content);
      found_any := true;
    elsif grown = 'finding_texts'::regclass then
      analyze (skip_locked) finding_texts (org_id, id);
    elsif grown = 'identity_rules'::regclass then
      analyze (skip_locked) identity_rules (org_id, id, a, b, revoked_at, asset_merge_id);
    else
      execute format('analyze (skip_locked) %s', grown);
    end if;
  end loop;
  return found_any;
end
$$;

-- The statistics that lists need, of all columns and of the expression index.
create function analyze_findings() returns void language plpgsql security definer set search_path = rrs, pg_temp as $$
begin
  analyze (skip_locked) findings;
  analyze (skip_locked) sightings;
end
$$;
revoke all on function analyze_staging, analyze_assets, analyze_groups, analyze_closures, analyze_grown, analyze_findings from public;
grant execute on function analyze_staging, analyze_assets, analyze_groups, analyze_closures, analyze_grown, analyze_findings to rrs_app;

-- ----------------------------------------------------------------------------------------------------
-- Integrations
-- ----------------------------------------------------------------------------------------------------

create table connections (
  org_id uuid not null references organizations (id),
  id uuid not null,
  provider text not null,
  kind text not null check (kind in ('scanner', 'ticketing', 'enrichment')),
  name text not null,
  enabled boolean not null default true,
  config jsonb not null,
  -- Encrypted with the named key. Deleted with the connection.
  credentials bytea,
  credentials_key text,
  -- What may be shown of each credential: when it was set, and its last characters.
  credential_marks jsonb not null default '{}',
  -- Null: runs only on request.
  every_minutes integer check (every_minutes between 15 and 44640),
  next_run_at timestamptz(3),
  -- Where the next incremental run continues, and when the last full run finished.
  cursor jsonb,
  full_at timestamptz(3),
  created_by text not null,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (org_id, id),
  check ((credentials is null) = (credentials_key is null))
);
create unique index connections_by_name on connections (org_id, lower(name)) where deleted_at is null;
create index connections_by_created on connections (org_id, created_at, id) where deleted_at is null;
create index connections_due on connections (next_run_at) where enabled and deleted_at is null and next_run_at is not null;
-- Inbound webhooks name a connection and no organization.
create index connections_by_id on connections (id) where deleted_at is null;
select make_tenant_table('connections', 'select, insert, update');

create table sync_runs (
  org_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  trigger text not null check (trigger in ('manual', 'schedule', 'sync_all')),
  mode text not null check (mode in ('full', 'changes')),
  status text not null default 'queued' check (status in ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled', 'needs_confirmation')),
  -- Incremented by each worker that takes over the run. A worker with an older number has lost it.
  attempt integer not null default 0,
  cancel_requested boolean not null default false,
  checkpoint jsonb,
  -- How collecting from the vendor ended. The steps after it can be repeated.
  ending jsonb,
  batches integer not null default 0,
  records integer not null default 0,
  requests integer not null default 0,
  failed_requests integer not null default 0,
  response_bytes bigint not null default 0,
  import_id uuid,
  counts jsonb not null default '{}',
  error_kind text,
  error text,
  notes jsonb not null default '[]',
  -- The date of the knowledge that an enrichment run delivered, as the vendor states it.
  knowledge_as_of text,
  requested_by text not null,
  actor jsonb not null,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  primary key (org_id, id),
  foreign key (org_id, connection_id) references connections (org_id, id),
  check ((status in ('queued', 'running')) = (finished_at is null))
);
-- One run of a connection at a time, with any number of workers.
create unique index sync_runs_active on sync_runs (org_id, connection_id) where status in ('queued', 'running');
create index sync_runs_by_connection on sync_runs (org_id, connection_id, created_at, id);
select make_tenant_table('sync_runs', 'select, insert, update');

-- Polls of ticketing systems are runs too, several per hour. Old ones that a successful poll followed are deleted.
grant delete on sync_runs to rrs_app;

-- What a run has collected so far, compressed. Written with its checkpoint and deleted when the run is done.
create table sync_run_batches (
  org_id uuid not null,
  run_id uuid not null,
  n integer not null,
  content bytea not null,
  primary key (org_id, run_id, n),
  foreign key (org_id, run_id) references sync_runs (org_id, id)
);
select make_tenant_table('sync_run_batches', 'select, insert, update, delete');

-- ----------------------------------------------------------------------------------------------------
-- Work items
-- ----------------------------------------------------------------------------------------------------

create table work_items (
  org_id uuid not null references organizations (id),
  id uuid not null,
  title text not null check (length(title) between 1 and 500),
  description text,
  status text not null default 'open' check (status in ('open', 'in_progress', 'blocked', 'awaiting_verification', 'verified', 'closed_with_exceptions', 'cancelled')),
  status_reason text,
  status_changed_at timestamptz(3) not null default now(),
  -- The person behind the credential. Null when the status followed from the findings.
  status_changed_by text,
  assignee text,
  -- A column because PostgreSQL does not use an expression index below row-level security.
  assignee_key text generated always as (lower(assignee)) stored,
  -- Not a foreign key: the item outlives the member.
  assignee_member_id uuid,
  -- 4 critical, 3 high, 2 medium, 1 low
  priority smallint not null default 2 check (priority between 1 and 4),
  -- 'infinity' means no deadline.
  due_at timestamptz(3) not null default 'infinity',
  external_ref text,
  follows uuid,
  -- Counts of findings by what they contribute, stored with the status that follows from them. They no longer change once the item is closed.
  findings_open integer not null default 0,
  findings_in_progress integer not null default 0,
  findings_remediated integer not null default 0,
  findings_verified integer not null default 0,
  findings_excepted integer not null default 0,
  findings_aside integer not null default 0,
  closed_at timestamptz(3),
  search tsvector not null generated always as (to_tsvector('simple', title || ' ' || coalesce(external_ref, '') || ' ' || coalesce(description, ''))) stored,
  created_by text,
  created_by_name text not null,
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  foreign key (org_id, follows) references work_items (org_id, id),
  check (follows <> id),
  check ((status in ('verified', 'closed_with_exceptions', 'cancelled')) = (closed_at is not null)),
  check (status not in ('blocked', 'cancelled') or status_reason is not null),
  check (least(findings_open, findings_in_progress, findings_remediated, findings_verified, findings_excepted, findings_aside) >= 0),
  check (status <> 'verified' or (findings_verified > 0 and findings_open + findings_in_progress + findings_remediated + findings_excepted = 0)),
  check (status <> 'closed_with_exceptions' or (findings_excepted + findings_aside > 0 and findings_open + findings_in_progress + findings_remediated = 0))
);
-- A closed item has at most one successor. Findings that come back are linked there.
create unique index work_items_by_follows on work_items (org_id, follows) where follows is not null;
create index work_items_by_created on work_items (org_id, created_at, id);
create index work_items_by_updated on work_items (org_id, updated_at, id);
create index work_items_by_due on work_items (org_id, due_at, id);
create index work_items_by_priority on work_items (org_id, priority, id);
create index work_items_by_status on work_items (org_id, status, created_at, id);
create index work_items_by_assignee on work_items (org_id, assignee_key, created_at, id) where assignee_key is not null;
create index work_items_by_assigned_member on work_items (org_id, assignee_member_id, created_at, id) where assignee_member_id is not null;
select make_tenant_table('work_items', 'select, insert, update');

-- One row for each time a finding was linked to an item. There is no foreign key to findings: it would lock each finding against imports. Findings
-- are never deleted, and links are created from the finding's own row.
create table work_item_findings (
  org_id uuid not null,
  id uuid not null,
  work_item_id uuid not null,
  finding_id uuid not null,
  linked_at timestamptz(3) not null default now(),
  linked_by text not null,
  unlinked_at timestamptz(3),
  unlinked_by text,
  unlink_reason text,
  -- In the order of lists. Nothing looks for a link by its id.
  primary key (org_id, work_item_id, linked_at, id),
  foreign key (org_id, work_item_id) references work_items (org_id, id),
  check ((unlinked_at is null) = (unlinked_by is null)),
  check (unlinked_at >= linked_at)
);
create unique index work_item_findings_linked on work_item_findings (org_id, work_item_id, finding_id) where unlinked_at is null;
-- Leads with the finding: without statistics the planner would otherwise prefer an index that leads with the organization.
create index work_item_findings_by_finding on work_item_findings (finding_id) include (org_id, work_item_id) where unlinked_at is null;
create index work_item_findings_ended on work_item_findings (finding_id) include (org_id, work_item_id) where unlinked_at is not null;
select make_tenant_table('work_item_findings', 'select, insert, update');

-- States of work items that people saw, so that an approval refers to one and a later state can be compared with it.
create table work_item_states (
  org_id uuid not null,
  work_item_id uuid not null,
  -- SHA-256 of the lines.
  digest text not null check (digest ~ '^[0-9a-f]{64}$'),
  lines text not null,
  shown_at timestamptz(3) not null default now(),
  primary key (org_id, work_item_id, digest),
  foreign key (org_id, work_item_id) references work_items (org_id, id)
);
select make_tenant_table('work_item_states', 'select, insert, delete');
grant update (shown_at) on work_item_states to rrs_app, rrs_system;

create table work_item_approvals (
  org_id uuid not null,
  work_item_id uuid not null,
  id uuid not null,
  decision text not null check (decision in ('approved', 'rejected')),
  comment text,
  actor_type text not null,
  actor_id text,
  actor_name text not null,
  person text,
  person_name text,
  -- The person had no part in the work.
  independent boolean not null,
  -- The state of the item that the decision is about.
  state_digest text not null,
  item_status text not null,
  item_version integer not null,
  occurred_at timestamptz(3) not null default now(),
  primary key (org_id, work_item_id, id),
  foreign key (org_id, work_item_id, state_digest) references work_item_states (org_id, work_item_id, digest),
  check (decision = 'approved' or comment is not null)
);
select make_tenant_table('work_item_approvals', 'select, insert');
select make_insert_only('work_item_approvals');

-- What findings, which know nothing of work items otherwise, show and filter by. The policies of the tables apply to the reader.
create view finding_work_items with (security_invoker = true) as
select l.org_id, l.finding_id, l.work_item_id, l.linked_at, w.title, w.status, w.assignee
from work_item_findings l join work_items w on w.org_id = l.org_id and w.id = l.work_item_id
where l.unlinked_at is null;
grant select on finding_work_items to rrs_app;

-- What people say about findings and work items. Rows are never deleted. The text of a withdrawn comment is no longer shown.
create table comments (
  org_id uuid not null references organizations (id),
  id uuid not null,
  object_type text not null check (object_type in ('finding', 'work_item')),
  object_id uuid not null,
  text text not null check (length(text) between 1 and 4000),
  person text,
  author text not null,
  created_at timestamptz(3) not null default now(),
  withdrawn_at timestamptz(3),
  withdrawn_by text,
  primary key (org_id, id),
  check ((withdrawn_at is null) = (withdrawn_by is null))
);
create index comments_by_object on comments (org_id, object_id, created_at, id);
select make_tenant_table('comments', 'select, insert, update');

-- A work item's ticket in a ticketing system. We own title, text, priority and due date; the vendor owns state and assignee.
create table tickets (
  org_id uuid not null references organizations (id),
  id uuid not null,
  work_item_id uuid not null,
  connection_id uuid not null,
  status text not null default 'pushing' check (status in ('pushing', 'linked', 'failed', 'paused')),
  -- Our marker in the vendor's ticket. It finds the ticket again after a lost response.
  marker text not null,
  -- The vendor's id for requests, the key that people know, and the page of the ticket.
  external_id text,
  external_key text,
  url text,
  -- The values we last wrote, and what the ticket showed right after. A change back to these values is an echo of our own write.
  sent jsonb not null default '{}',
  shown jsonb not null default '{}',
  -- The ticket when it was last read.
  theirs jsonb,
  drift jsonb not null default '[]',
  -- Why the work item did not follow the state of the ticket.
  refusal text,
  gone_at timestamptz(3),
  paused_reason text,
  error_kind text,
  error text,
  failures integer not null default 0,
  retry_at timestamptz(3),
  -- Times of recent writes that followed a change at the vendor, for the brake on write loops.
  writes jsonb not null default '[]',
  -- When somebody last changed the ticket at the vendor.
  vendor_changed_at timestamptz(3),
  -- When the service last asked the vendor to create the ticket. Until the vendor's search would find it, no other one is created.
  creating_at timestamptz(3),
  -- Other tickets at the vendor that carry our marker: key and URL.
  duplicates jsonb not null default '[]',
  -- How many changes the vendor announced, and how many of them were read.
  changes_announced integer not null default 0,
  changes_read integer not null default 0,
  -- The repair that a person requested, and who it was.
  repair jsonb,
  -- One worker at a time handles a ticket.
  lease_id uuid,
  leased_until timestamptz(3),
  -- The version of the work item at the last sync.
  item_version integer not null default 0,
  read_at timestamptz(3),
  written_at timestamptz(3),
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  unlinked_at timestamptz(3),
  unlinked_by text,
  primary key (org_id, id),
  foreign key (org_id, work_item_id) references work_items (org_id, id),
  foreign key (org_id, connection_id) references connections (org_id, id),
  check (num_nulls(external_id, external_key, theirs) in (0, 3)),
  check (status <> 'linked' or external_id is not null),
  check ((status = 'paused') = (paused_reason is not null)),
  check ((error is null) = (error_kind is null)),
  check ((lease_id is null) = (leased_until is null)),
  check ((unlinked_at is null) = (unlinked_by is null))
);
create unique index tickets_linked on tickets (org_id, work_item_id, connection_id) where unlinked_at is null;
create index tickets_by_external_id on tickets (org_id, connection_id, external_id) where unlinked_at is null;
create index tickets_by_created on tickets (org_id, created_at, id) where unlinked_at is null;
select make_tenant_table('tickets', 'select, insert, update');

-- Connections that have tickets, and therefore are polled.
create view ticketing_connections with (security_invoker = true) as
select distinct org_id, connection_id from tickets where unlinked_at is null;
grant select on ticketing_connections to rrs_app;

-- When each ticketing system was last polled, and the error of the last poll.
create table ticket_polls (
  org_id uuid not null,
  connection_id uuid not null,
  polled_at timestamptz(3),
  error_kind text,
  error text,
  primary key (org_id, connection_id),
  foreign key (org_id, connection_id) references connections (org_id, id),
  check ((error is null) = (error_kind is null))
);
select make_tenant_table('ticket_polls', 'select, insert, update');

-- ----------------------------------------------------------------------------------------------------
-- Evidence
-- ----------------------------------------------------------------------------------------------------

-- The transparency log: one RFC 6962 tree per organization and epoch. Checkpoints carry the origin, so it never changes.
-- A log that was restored or rewound continues in a new epoch, because two trees must not share an origin.
create table log_epochs (
  org_id uuid not null references organizations (id),
  epoch integer not null check (epoch > 0),
  origin text not null check (length(origin) between 1 and 300),
  created_at timestamptz(3) not null default now(),
  primary key (org_id, epoch)
);
select make_tenant_table('log_epochs', 'select, insert');
select make_insert_only('log_epochs');

-- Epochs that must not grow any more, and why. The next package starts the next epoch.
create table log_endings (
  org_id uuid not null,
  epoch integer not null,
  reason text not null check (reason in ('restore', 'mark_lost', 'rewound')),
  -- The backup that was restored.
  backup jsonb,
  -- The witness that contradicts the database, and the size of the log that it has seen, if it is larger.
  witness text,
  witnessed_size bigint,
  ended_at timestamptz(3) not null default now(),
  primary key (org_id, epoch),
  foreign key (org_id, epoch) references log_epochs (org_id, epoch)
);
select make_tenant_table('log_endings', 'select, insert');
select make_insert_only('log_endings');

-- A leaf records a package, or a signed statement about the log itself.
create table log_leaves (
  org_id uuid not null,
  epoch integer not null,
  index bigint not null check (index >= 0),
  entry text not null,
  leaf_hash bytea not null check (length(leaf_hash) = 32),
  package_id uuid,
  -- The DSSE envelope of a statement.
  envelope text,
  appended_at timestamptz(3) not null default now(),
  primary key (org_id, epoch, index),
  foreign key (org_id, epoch) references log_epochs (org_id, epoch),
  check ((package_id is null) = (envelope is not null))
);
create index log_leaves_by_package on log_leaves (org_id, package_id, epoch, index);
select make_tenant_table('log_leaves', 'select, insert');
select make_insert_only('log_leaves');

-- Hashes of complete subtrees, with the leaves at level 0. A proof reads a few dozen of them, regardless of the size of the log.
create table log_nodes (
  org_id uuid not null,
  epoch integer not null,
  level smallint not null check (level between 0 and 53),
  index bigint not null check (index >= 0),
  hash bytea not null check (length(hash) = 32),
  primary key (org_id, epoch, level, index),
  foreign key (org_id, epoch) references log_epochs (org_id, epoch)
);
select make_tenant_table('log_nodes', 'select, insert');
select make_insert_only('log_nodes');

-- Which leaf belongs to the published package. An attempt that was interrupted leaves a leaf without a row here.
create table log_publications (
  org_id uuid not null,
  epoch integer not null,
  index bigint not null,
  published_at timestamptz(3) not null default now(),
  primary key (org_id, epoch, index),
  foreign key (org_id, epoch, index) references log_leaves (org_id, epoch, index)
);
select make_tenant_table('log_publications', 'select, insert');
select make_insert_only('log_publications');

create table log_checkpoints (
  org_id uuid not null,
  epoch integer not null,
  size bigint not null check (size > 0),
  root bytea not null check (length(root) = 32),
  note text not null,
  rekor_note text not null,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, epoch, size),
  foreign key (org_id, epoch) references log_epochs (org_id, epoch)
);
select make_tenant_table('log_checkpoints', 'select, insert');
select make_insert_only('log_checkpoints');

-- Signature lines of witnesses that confirm a checkpoint.
create table log_cosignatures (
  org_id uuid not null,
  epoch integer not null,
  size bigint not null,
  witness text not null,
  line text not null,
  cosigned_at timestamptz(3) not null,
  primary key (org_id, epoch, size, witness),
  foreign key (org_id, epoch, size) references log_checkpoints (org_id, epoch, size)
);
select make_tenant_table('log_cosignatures', 'select, insert');
select make_insert_only('log_cosignatures');

-- Public keys, kept forever. Private keys are files. One key of each kind signs at a time.
create table evidence_keys (
  key_id text primary key,
  use text not null check (use in ('package', 'log')),
  algorithm text not null check (algorithm in ('ES256', 'Ed25519')),
  spki bytea not null unique,
  valid_from timestamptz(3) not null default now(),
  valid_to timestamptz(3) check (valid_to >= valid_from)
);
create unique index evidence_keys_active on evidence_keys (use, algorithm) where valid_to is null;

create function refuse_key_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.valid_to is null and new.valid_to is not null
    and (new.key_id, new.use, new.algorithm, new.spki, new.valid_from) = (old.key_id, old.use, old.algorithm, old.spki, old.valid_from) then
    return new;
  end if;
  raise exception 'a published key can only be closed' using errcode = 'restrict_violation';
end
$$;
create trigger only_closed before update or delete on evidence_keys for each row execute function refuse_key_change();
create trigger insert_only before truncate on evidence_keys for each statement execute function refuse_change();
grant select on evidence_keys to rrs_app, rrs_system;
grant insert, update (valid_to) on evidence_keys to rrs_system;

-- Rotations that the old keys signed: DSSE envelopes with the signatures of the old and the new keys.
create table key_successions (
  -- The SHA-256 of the statement.
  id text primary key,
  envelope text not null,
  created_at timestamptz(3) not null default now()
);
create trigger insert_only before update or delete or truncate on key_successions for each statement execute function refuse_change();
grant select on key_successions to rrs_app, rrs_system;
grant insert on key_successions to rrs_system;

-- Proof of remediation. A newer artifact points at the one it supersedes. A removed one keeps its row.
create table artifacts (
  org_id uuid not null references organizations (id),
  id uuid not null,
  work_item_id uuid not null,
  type text not null check (type in ('pull_request', 'commit', 'change_ticket', 'scan_report', 'approval', 'screenshot', 'configuration', 'test_result', 'other')),
  title text not null check (length(title) between 1 and 300),
  description text,
  occurred_at timestamptz(3),
  url text,
  redactions jsonb not null default '[]',
  filename text,
  media_type text,
  size bigint,
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  supersedes uuid,
  added_at timestamptz(3) not null default now(),
  added_by jsonb not null,
  primary key (org_id, id),
  unique (org_id, supersedes),
  foreign key (org_id, work_item_id) references work_items (org_id, id),
  foreign key (org_id, supersedes) references artifacts (org_id, id),
  check ((sha256 is null) <> (url is null)),
  check (num_nulls(sha256, size, media_type) in (0, 3))
);
create index artifacts_by_work_item on artifacts (org_id, work_item_id, added_at, id);
create index artifacts_by_content on artifacts (sha256) where sha256 is not null;
select make_tenant_table('artifacts', 'select, insert');
select make_insert_only('artifacts');

create table artifact_removals (
  org_id uuid not null,
  artifact_id uuid not null,
  reason text not null check (length(reason) between 3 and 2000),
  removed_at timestamptz(3) not null default now(),
  removed_by jsonb not null,
  primary key (org_id, artifact_id),
  foreign key (org_id, artifact_id) references artifacts (org_id, id)
);
select make_tenant_table('artifact_removals', 'select, insert');
select make_insert_only('artifact_removals');

-- The original behind a link, fetched through a connection: the artifact that holds the bytes, and the link it supersedes.
create table artifact_captures (
  org_id uuid not null,
  artifact_id uuid not null,
  link_id uuid not null,
  connection_id uuid not null,
  provider text not null,
  url text not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  captured_at timestamptz(3) not null,
  primary key (org_id, artifact_id),
  foreign key (org_id, artifact_id) references artifacts (org_id, id),
  foreign key (org_id, link_id) references artifacts (org_id, id),
  foreign key (org_id, connection_id) references connections (org_id, id)
);
select make_tenant_table('artifact_captures', 'select, insert');
select make_insert_only('artifact_captures');

-- One generated package of a work item. A sealed package never changes. A later one supersedes it.
create table evidence_packages (
  org_id uuid not null references organizations (id),
  id uuid not null,
  work_item_id uuid not null,
  -- The title when the package was requested. Recipients of share links must not see a later one.
  work_item_title text not null,
  -- Numbers the packages of the work item, starting at 1.
  sequence integer not null check (sequence > 0),
  status text not null default 'generating' check (status in ('generating', 'ready', 'failed', 'superseded')),
  formats text[] not null,
  note text,
  requested_by jsonb not null,
  requested_at timestamptz(3) not null default now(),
  attempts integer not null default 0,
  error text,
  -- The time of the snapshot that the package describes.
  as_of timestamptz(3),
  generated_at timestamptz(3),
  generation_ms integer,
  conclusion text,
  grade text,
  gaps jsonb not null default '[]',
  counts jsonb,
  archive_sha256 text,
  archive_size bigint,
  manifest_sha256 text,
  tagmanifest_sha256 text,
  key_id text,
  log_epoch integer,
  log_index bigint,
  log_size bigint,
  log_root bytea,
  leaf_hash bytea,
  timestamps jsonb not null default '[]',
  -- The configured witnesses, and when each of them confirmed the checkpoint of the package.
  witnesses jsonb not null default '[]',
  -- All files of the package, and those that can be downloaded alone.
  files jsonb not null default '[]',
  superseded_at timestamptz(3),
  superseded_by uuid,
  superseded_reason text,
  -- The entry in the transparency log that says so. A job adds it.
  superseded_epoch integer,
  superseded_index bigint,
  primary key (org_id, id),
  unique (org_id, work_item_id, sequence),
  foreign key (org_id, work_item_id) references work_items (org_id, id),
  foreign key (org_id, superseded_by) references evidence_packages (org_id, id),
  check ((status in ('ready', 'superseded')) = (archive_sha256 is not null)),
  check ((archive_sha256 is null) = (generated_at is null)),
  check ((status = 'superseded') = (superseded_at is not null)),
  check ((superseded_epoch is null) = (superseded_index is null)),
  check ((status = 'failed') = (error is not null))
);
create index evidence_packages_by_requested on evidence_packages (org_id, requested_at, id);
create index evidence_packages_by_generated on evidence_packages (org_id, generated_at, id) where generated_at is not null;
-- Covers the statistics, so that they do not read the long rows.
create index evidence_packages_counted on evidence_packages (org_id, status, work_item_id) include (grade, archive_size, generation_ms);
create index evidence_packages_to_log on evidence_packages (org_id, superseded_at, id) where status = 'superseded' and superseded_index is null;
select make_tenant_table('evidence_packages', 'select, insert, update');

create function refuse_sealed_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'evidence packages are never deleted' using errcode = 'restrict_violation';
  end if;
  if old.archive_sha256 is not null and
    to_jsonb(new) - '{status,superseded_at,superseded_by,superseded_reason,superseded_epoch,superseded_index}'::text[]
    <> to_jsonb(old) - '{status,superseded_at,superseded_by,superseded_reason,superseded_epoch,superseded_index}'::text[] then
    raise exception 'a sealed package does not change' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger sealed before update or delete on evidence_packages for each row execute function refuse_sealed_change();
create trigger insert_only before truncate on evidence_packages for each statement execute function refuse_change();

-- Artifacts in sealed packages. Their bytes are kept: a package is checked against them for years.
create table package_artifacts (
  org_id uuid not null,
  package_id uuid not null,
  artifact_id uuid not null,
  primary key (org_id, artifact_id, package_id),
  foreign key (org_id, artifact_id) references artifacts (org_id, id)
);
select make_tenant_table('package_artifacts', 'select, insert');
select make_insert_only('package_artifacts');

-- The state of each finding in a package. When a finding comes back, the packages that called it closed are superseded.
create table package_findings (
  org_id uuid not null,
  package_id uuid not null,
  finding_id uuid not null,
  state text not null,
  primary key (org_id, finding_id, package_id),
  foreign key (org_id, package_id) references evidence_packages (org_id, id)
);
select make_tenant_table('package_findings', 'select, insert');
select make_insert_only('package_findings');

-- Stored files of a package: its archive and the formats that can be downloaded alone.
create table package_blobs (
  org_id uuid not null,
  package_id uuid not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  primary key (org_id, package_id, sha256),
  foreign key (org_id, package_id) references evidence_packages (org_id, id)
);
create index package_blobs_by_content on package_blobs (sha256);
select make_tenant_table('package_blobs', 'select, insert');
select make_insert_only('package_blobs');

-- Which files imports must keep. The policies of the tables apply to the reader.
create view package_files with (security_invoker = true) as select org_id, sha256 from package_blobs;
grant select on package_files to rrs_app;

-- Access for an auditor without an account. The token is shown once and stored as a hash.
create table share_links (
  org_id uuid not null,
  id uuid not null,
  package_id uuid not null,
  token_hash bytea not null,
  recipient text not null check (length(recipient) between 1 and 300),
  created_by jsonb not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  -- Null: no limit.
  max_downloads integer check (max_downloads > 0),
  downloads integer not null default 0 check (downloads >= 0 and (max_downloads is null or downloads <= max_downloads)),
  last_download_at timestamptz(3),
  primary key (org_id, id),
  unique (org_id, token_hash),
  foreign key (org_id, package_id) references evidence_packages (org_id, id)
);
create index share_links_by_package on share_links (org_id, package_id, created_at, id);
select make_tenant_table('share_links', 'select, insert');

grant update (revoked_at, downloads, last_download_at) on share_links to rrs_app, rrs_system;

-- Downloads and verifications of a package.
create table package_receipts (
  org_id uuid not null,
  id uuid not null,
  package_id uuid not null,
  kind text not null check (kind in ('download', 'verification')),
  format text,
  outcome text not null,
  share_link_id uuid,
  actor jsonb not null,
  address inet,
  occurred_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  foreign key (org_id, package_id) references evidence_packages (org_id, id)
);
create index package_receipts_by_link on package_receipts (org_id, share_link_id, occurred_at) where share_link_id is not null;
create index package_receipts_by_kind on package_receipts (org_id, kind, outcome);
select make_tenant_table('package_receipts', 'select, insert');
select make_insert_only('package_receipts');

revoke all on function refuse_key_change, refuse_sealed_change from public;
