-- A work item as a ticket of somebody's ticketing system. Title, text, priority and due date are ours there; state and assignee are the vendor's.
create table tickets (
  org_id uuid not null references organizations (id),
  id uuid not null,
  work_item_id uuid not null,
  connection_id uuid not null,
  status text not null default 'pushing' check (status in ('pushing', 'linked', 'failed', 'paused')),
  -- Ours, in the vendor's ticket: it is found again by it.
  marker text not null,
  -- The vendor's id for requests, the name that people know it by, and where they look at it.
  external_id text,
  external_key text,
  url text,
  -- What we last wrote of each field, and what the ticket showed right after: a change that equals it is no change.
  sent jsonb not null default '{}',
  shown jsonb not null default '{}',
  -- What the ticket said when it was last read.
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
  -- When it was written to, as far as the brake looks back.
  writes jsonb not null default '[]',
  -- How often we were told that it changed, and how many of these are read.
  changes_announced integer not null default 0,
  changes_read integer not null default 0,
  -- What a person asked for, and who it was.
  repair jsonb,
  -- One worker at a time has it.
  lease_id uuid,
  leased_until timestamptz(3),
  -- Of the work item that it was last brought in step with.
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

-- Since when a vendor has to be asked what changed, and whether the last question was answered.
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

-- Messages of vendors name a connection and nothing else.
create index connections_by_id on connections (id) where deleted_at is null;

do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array['tickets', 'ticket_polls'] loop
    execute format('alter table %I enable row level security', tenant_table);
    execute format('alter table %I force row level security', tenant_table);
    execute format(
      'create policy tenant on %I to rrs_app using (org_id = current_setting(''app.org_id'')::uuid) with check (org_id = current_setting(''app.org_id'')::uuid)',
      tenant_table
    );
    execute format('create policy system on %I to rrs_system using (true) with check (true)', tenant_table);
    execute format('grant select, insert, update on %I to rrs_app, rrs_system', tenant_table);
  end loop;
end
$$;
