-- Tenants. The id is the organization's own key, so this table has no org_id.
create table organizations (
  id uuid primary key,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null check (length(name) between 1 and 200),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

create table members (
  org_id uuid not null references organizations (id),
  id uuid not null,
  email text not null check (email = lower(email) and length(email) between 3 and 320),
  name text not null check (length(name) between 1 and 200),
  role text not null check (role in ('owner', 'admin', 'analyst', 'viewer', 'auditor')),
  password_hash text,
  failed_sign_ins integer not null default 0,
  locked_until timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  unique (org_id, email)
);
create index members_by_created on members (org_id, created_at, id);
create index members_by_email on members (email);

create table sessions (
  org_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  token_hash bytea not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  unique (org_id, token_hash),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
create index sessions_by_member on sessions (org_id, member_id);
create index sessions_by_expiry on sessions (expires_at);

create table api_keys (
  org_id uuid not null references organizations (id),
  id uuid not null,
  name text not null check (length(name) between 1 and 200),
  role text not null check (role in ('owner', 'admin', 'analyst', 'viewer', 'auditor')),
  prefix text not null,
  token_hash bytea not null,
  -- The member a key was made by, directly or through another key; plain, so that the key's history outlives the member.
  owner_member_id uuid,
  created_by text not null,
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  unique (org_id, token_hash)
);
create index api_keys_by_created on api_keys (org_id, created_at, id);
create index api_keys_by_owner on api_keys (org_id, owner_member_id) where owner_member_id is not null;

create table audit_events (
  org_id uuid not null references organizations (id),
  id uuid not null,
  occurred_at timestamptz(3) not null default now(),
  actor_type text not null check (actor_type in ('api_key', 'member', 'oidc', 'system')),
  actor_id text,
  actor_name text not null,
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
create index audit_events_by_action on audit_events (org_id, action, occurred_at, id);

create table events (
  org_id uuid not null references organizations (id),
  id uuid not null,
  occurred_at timestamptz(3) not null default now(),
  type text not null,
  subject text not null,
  data jsonb not null,
  primary key (org_id, id)
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% accepts only inserts', tg_table_name using errcode = 'restrict_violation';
end
$$;
create trigger insert_only before update or delete or truncate on audit_events for each statement execute function refuse_change();
create trigger insert_only before update or delete or truncate on events for each statement execute function refuse_change();

create table idempotency_keys (
  org_id uuid not null references organizations (id),
  key_hash bytea not null,
  request_hash bytea not null,
  response bytea,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, key_hash)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

create table worker_heartbeats (
  worker_id text primary key,
  seen_at timestamptz(3) not null
);

create table instance_secrets (
  name text primary key,
  value bytea not null
);

do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array['members', 'sessions', 'api_keys', 'audit_events', 'events', 'idempotency_keys'] loop
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
revoke update, delete on audit_events, events from rrs_app, rrs_system;

alter table organizations enable row level security;
alter table organizations force row level security;
create policy tenant on organizations to rrs_app using (id = current_setting('app.org_id')::uuid) with check (id = current_setting('app.org_id')::uuid);
create policy system on organizations to rrs_system using (true) with check (true);
grant select, update on organizations to rrs_app;
grant select, insert, update on organizations to rrs_system;

grant select, insert, update, delete on worker_heartbeats to rrs_system;
grant select, insert on instance_secrets to rrs_system;

-- The application role reaches the job queue through this door alone: it can add a job, never read or change one.
-- The queue belongs to the system role, so its door does too.
set local role rrs_system;
create function rrs_jobs.add_job(task text, payload json, run_at timestamptz, job_key text, max_attempts integer) returns void
language sql security definer set search_path = pg_catalog as $$
  select graphile_worker.add_job(task, payload, null, run_at, max_attempts, job_key)
$$;
revoke all on function rrs_jobs.add_job from public;
grant execute on function rrs_jobs.add_job to rrs_app;
set local role rrs_owner;
