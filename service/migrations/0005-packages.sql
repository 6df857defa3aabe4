-- One generation of the evidence for a work item. What is sealed never changes; a later one supersedes it.
create table evidence_packages (
  org_id uuid not null references organizations (id),
  id uuid not null,
  work_item_id uuid not null,
  -- Counts the packages of the work item, from 1.
  sequence integer not null check (sequence > 0),
  status text not null default 'generating' check (status in ('generating', 'ready', 'failed', 'superseded')),
  formats text[] not null,
  note text,
  requested_by jsonb not null,
  requested_at timestamptz(3) not null default now(),
  attempts integer not null default 0,
  error text,
  -- The instant for which the package is true.
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
  log_index bigint,
  log_size bigint,
  log_root bytea,
  leaf_hash bytea,
  timestamps jsonb not null default '[]',
  -- Every file of the bag, and the ones that can be had alone.
  files jsonb not null default '[]',
  superseded_at timestamptz(3),
  superseded_by uuid,
  superseded_reason text,
  primary key (org_id, id),
  unique (org_id, work_item_id, sequence),
  foreign key (org_id, work_item_id) references work_items (org_id, id),
  foreign key (org_id, superseded_by) references evidence_packages (org_id, id),
  check ((status in ('ready', 'superseded')) = (archive_sha256 is not null)),
  check ((archive_sha256 is null) = (generated_at is null)),
  check ((status = 'superseded') = (superseded_at is not null)),
  check ((status = 'failed') = (error is not null))
);
create index evidence_packages_by_requested on evidence_packages (org_id, requested_at, id);
create index evidence_packages_by_generated on evidence_packages (org_id, generated_at, id) where generated_at is not null;
create index evidence_packages_by_item on evidence_packages (org_id, work_item_id, requested_at, id);
-- All that is counted of them, so that their long rows are left alone.
create index evidence_packages_counted on evidence_packages (org_id, status, work_item_id) include (grade, archive_size, generation_ms);

create function refuse_sealed_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'evidence packages are never deleted' using errcode = 'restrict_violation';
  end if;
  if old.archive_sha256 is not null and
    to_jsonb(new) - '{status,superseded_at,superseded_by,superseded_reason}'::text[] <> to_jsonb(old) - '{status,superseded_at,superseded_by,superseded_reason}'::text[] then
    raise exception 'a sealed package does not change' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger sealed before update or delete on evidence_packages for each row execute function refuse_sealed_change();
create trigger insert_only before truncate on evidence_packages for each statement execute function refuse_change();

-- How each finding stood in it: when one comes back, the packages that called it closed are superseded.
create table package_findings (
  org_id uuid not null,
  package_id uuid not null,
  finding_id uuid not null,
  state text not null,
  primary key (org_id, package_id, finding_id),
  foreign key (org_id, package_id) references evidence_packages (org_id, id)
);
create index package_findings_by_finding on package_findings (org_id, finding_id, package_id);

-- Stored bytes that a package is made of: its archive and the formats that can be had alone.
create table package_blobs (
  org_id uuid not null,
  package_id uuid not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  primary key (org_id, package_id, sha256),
  foreign key (org_id, package_id) references evidence_packages (org_id, id)
);
create index package_blobs_by_content on package_blobs (sha256);

-- For an auditor without an account. The token is shown once and kept as a hash.
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
  primary key (org_id, id),
  unique (org_id, token_hash),
  foreign key (org_id, package_id) references evidence_packages (org_id, id)
);
create index share_links_by_package on share_links (org_id, package_id, created_at, id);

-- Who had it and who checked it.
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
create index package_receipts_by_package on package_receipts (org_id, package_id, occurred_at, id);
create index package_receipts_by_kind on package_receipts (org_id, kind, outcome);

do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array['evidence_packages', 'package_findings', 'package_blobs', 'share_links', 'package_receipts'] loop
    execute format('alter table %I enable row level security', tenant_table);
    execute format('alter table %I force row level security', tenant_table);
    execute format(
      'create policy tenant on %I to rrs_app using (org_id = current_setting(''app.org_id'')::uuid) with check (org_id = current_setting(''app.org_id'')::uuid)',
      tenant_table
    );
    execute format('create policy system on %I to rrs_system using (true) with check (true)', tenant_table);
    execute format('grant select, insert on %I to rrs_app, rrs_system', tenant_table);
  end loop;
  foreach tenant_table in array array['package_findings', 'package_blobs', 'package_receipts'] loop
    execute format('create trigger insert_only before update or delete or truncate on %I for each statement execute function refuse_change()', tenant_table);
  end loop;
end
$$;
grant update on evidence_packages to rrs_app, rrs_system;
grant update (revoked_at) on share_links to rrs_app, rrs_system;
