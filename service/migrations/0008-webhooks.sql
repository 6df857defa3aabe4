-- The transaction that wrote an event. Ids are made before a transaction ends and in many processes, so that one with a smaller id can be seen
-- later. What belongs to a transaction older than every one still at work is complete: (xact, id) below that is an order nothing is added to.
alter table events add column xact bigint not null default (pg_current_xact_id()::text::bigint);
create index events_by_xact on events (org_id, xact, id);

create function events_horizon() returns bigint language sql stable as $$ select pg_snapshot_xmin(pg_current_snapshot())::text::bigint $$;

create table webhooks (
  org_id uuid not null references organizations (id),
  id uuid not null,
  url text not null check (length(url) between 1 and 2000),
  event_types text[] not null check (cardinality(event_types) between 1 and 50),
  description text check (length(description) <= 500),
  enabled boolean not null,
  disabled_at timestamptz(3),
  disabled_reason text,
  -- Sealed; nobody but the service can open them.
  secret bytea not null,
  secret_hint text not null,
  previous_secret bytea,
  previous_secret_until timestamptz(3),
  -- The last event that was turned into deliveries, or passed over.
  seen_xact bigint not null default (pg_current_xact_id()::text::bigint),
  seen_id uuid not null default 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  -- One process at a time delivers.
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

create table webhook_deliveries (
  org_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed')),
  attempts smallint not null default 0,
  -- Null also while a test waits for its answer.
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
create index webhook_deliveries_by_age on webhook_deliveries (created_at);

do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array['webhooks', 'webhook_deliveries'] loop
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

-- For a database that came from another server by a dump: the transactions that its rows tell of are not those that this server counts. All of
-- them go below zero, in their order.
create function rebase_events(newest bigint) returns void language plpgsql security definer set search_path = rrs as $$
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
