create table connections (
  org_id uuid not null references organizations (id),
  id uuid not null,
  provider text not null,
  kind text not null check (kind in ('scanner', 'ticketing', 'enrichment')),
  name text not null,
  enabled boolean not null default true,
  config jsonb not null,
  -- Sealed with the key that is named beside it; gone when the connection is deleted.
  credentials bytea,
  credentials_key text,
  -- What may be shown of each: when it was set, and its last characters.
  credential_marks jsonb not null default '{}',
  -- Null: only when somebody asks.
  every_minutes integer check (every_minutes between 15 and 44640),
  next_run_at timestamptz(3),
  -- What the last run that came to its end left for the next, and when everything was last brought.
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

create table sync_runs (
  org_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  trigger text not null check (trigger in ('manual', 'schedule', 'sync_all')),
  mode text not null check (mode in ('full', 'changes')),
  status text not null default 'queued' check (status in ('queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled', 'needs_confirmation')),
  -- Whoever takes the run over counts on; who has an older number has lost it.
  attempt integer not null default 0,
  cancel_requested boolean not null default false,
  checkpoint jsonb,
  -- How the vendor's part ended, once it has: what follows is ours, and is repeated if need be.
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
  requested_by text not null,
  actor jsonb not null,
  created_at timestamptz(3) not null default now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  primary key (org_id, id),
  foreign key (org_id, connection_id) references connections (org_id, id),
  check ((status in ('queued', 'running')) = (finished_at is null))
);
-- One run of a connection at a time, whatever the number of workers.
create unique index sync_runs_active on sync_runs (org_id, connection_id) where status in ('queued', 'running');
create index sync_runs_by_connection on sync_runs (org_id, connection_id, created_at, id);

-- What a run has brought so far, compressed; written with its checkpoint, gone when the run is done.
create table sync_run_batches (
  org_id uuid not null,
  run_id uuid not null,
  n integer not null,
  content bytea not null,
  primary key (org_id, run_id, n),
  foreign key (org_id, run_id) references sync_runs (org_id, id)
);

-- How many records of the source the finding stands for: when one of them is said to be gone, the others may still be there.
alter table sightings add column records smallint not null default 1;

-- An import that a run of a connection brought.
alter table imports add column connection_id uuid;

do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array['connections', 'sync_runs', 'sync_run_batches'] loop
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
revoke delete on connections, sync_runs from rrs_app, rrs_system;

-- The door of the queue says which kind of place a job takes: those that mostly wait for others keep no other from running.
set local role rrs_system;
create function rrs_jobs.add_job(task text, payload json, run_at timestamptz, job_key text, max_attempts integer, kind text) returns void
language sql security definer set search_path = pg_catalog as $$
  select graphile_worker.add_job(task, payload, null, run_at, max_attempts, job_key, null, array[kind])
$$;
revoke all on function rrs_jobs.add_job(text, json, timestamptz, text, integer, text) from public;
grant execute on function rrs_jobs.add_job(text, json, timestamptz, text, integer, text) to rrs_app;
set local role rrs_owner;
