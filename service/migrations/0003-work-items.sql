create table work_items (
  org_id uuid not null references organizations (id),
  id uuid not null,
  title text not null check (length(title) between 1 and 500),
  description text,
  status text not null default 'open' check (status in ('open', 'in_progress', 'blocked', 'awaiting_verification', 'verified', 'closed_with_exceptions', 'cancelled')),
  status_reason text,
  status_changed_at timestamptz(3) not null default now(),
  -- Who stands behind the credential; null when the item followed its findings.
  status_changed_by text,
  assignee text,
  -- A column and not an expression in an index: with a policy on the table, PostgreSQL would not use that.
  assignee_key text generated always as (lower(assignee)) stored,
  -- Plain, so that the item outlives the member.
  assignee_member_id uuid,
  -- 4 critical, 3 high, 2 medium, 1 low
  priority smallint not null default 2 check (priority between 1 and 4),
  -- infinity: no deadline
  due_at timestamptz(3) not null default 'infinity',
  external_ref text,
  follows uuid,
  -- How its findings stand, kept with the status that follows from it; at rest once the item is closed.
  findings_open integer not null default 0,
  findings_in_progress integer not null default 0,
  findings_remediated integer not null default 0,
  findings_verified integer not null default 0,
  findings_excepted integer not null default 0,
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
  check (least(findings_open, findings_in_progress, findings_remediated, findings_verified, findings_excepted) >= 0),
  check (status <> 'verified' or (findings_verified > 0 and findings_open + findings_in_progress + findings_remediated + findings_excepted = 0)),
  check (status <> 'closed_with_exceptions' or (findings_excepted > 0 and findings_open + findings_in_progress + findings_remediated = 0))
);
-- A closed item has one successor at the most: what comes back goes there.
create unique index work_items_by_follows on work_items (org_id, follows) where follows is not null;
create index work_items_by_created on work_items (org_id, created_at, id);
create index work_items_by_updated on work_items (org_id, updated_at, id);
create index work_items_by_due on work_items (org_id, due_at, id);
create index work_items_by_priority on work_items (org_id, priority, id);
create index work_items_by_status on work_items (org_id, status, created_at, id);
create index work_items_by_assignee on work_items (org_id, assignee_key, created_at, id) where assignee_key is not null;
create index work_items_by_assigned_member on work_items (org_id, assignee_member_id, created_at, id) where assignee_member_id is not null;

-- One row for each time that a finding was on an item. Findings are never deleted, and a foreign key to them would lock each one
-- against the imports that move it: the link is made from the finding's own row instead.
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
  primary key (org_id, id),
  foreign key (org_id, work_item_id) references work_items (org_id, id),
  check ((unlinked_at is null) = (unlinked_by is null)),
  check (unlinked_at >= linked_at)
);
create unique index work_item_findings_linked on work_item_findings (org_id, work_item_id, finding_id) where unlinked_at is null;
-- By the finding alone: before there are statistics, the planner would take one that leads with the organization for as good an index on items.
create index work_item_findings_by_finding on work_item_findings (finding_id) include (org_id, work_item_id) where unlinked_at is null;
create index work_item_findings_by_item on work_item_findings (org_id, work_item_id, linked_at, id);

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
  -- Neither opened the item nor is it theirs nor claimed one of its findings.
  independent boolean not null,
  -- What was decided on.
  item_status text not null,
  item_version integer not null,
  occurred_at timestamptz(3) not null default now(),
  primary key (org_id, work_item_id, id),
  foreign key (org_id, work_item_id) references work_items (org_id, id),
  check (decision = 'approved' or comment is not null)
);

do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array['work_items', 'work_item_findings', 'work_item_approvals'] loop
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
revoke update on work_item_approvals from rrs_app, rrs_system;
create trigger insert_only before update or delete or truncate on work_item_approvals for each statement execute function refuse_change();
