-- The transparency log: one RFC 6962 tree for each organization. Its name stays what it was at the first entry: checkpoints carry it.
create table log_origins (
  org_id uuid not null references organizations (id),
  origin text not null check (length(origin) between 1 and 300),
  created_at timestamptz(3) not null default now(),
  primary key (org_id)
);

create table log_leaves (
  org_id uuid not null references log_origins (org_id),
  index bigint not null check (index >= 0),
  entry text not null,
  leaf_hash bytea not null check (length(leaf_hash) = 32),
  package_id uuid not null,
  appended_at timestamptz(3) not null default now(),
  primary key (org_id, index)
);
create index log_leaves_by_package on log_leaves (org_id, package_id, index);

-- The hashes of complete subtrees, the leaves at level 0: a proof reads a few dozen of them, however long the log is.
create table log_nodes (
  org_id uuid not null references log_origins (org_id),
  level smallint not null check (level between 0 and 53),
  index bigint not null check (index >= 0),
  hash bytea not null check (length(hash) = 32),
  primary key (org_id, level, index)
);

-- Which leaf became the published package: an attempt that broke off leaves one without.
create table log_publications (
  org_id uuid not null,
  index bigint not null,
  published_at timestamptz(3) not null default now(),
  primary key (org_id, index),
  foreign key (org_id, index) references log_leaves (org_id, index)
);

create table log_checkpoints (
  org_id uuid not null references log_origins (org_id),
  size bigint not null check (size > 0),
  root bytea not null check (length(root) = 32),
  note text not null,
  rekor_note text not null,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, size)
);

-- The public halves of the keys that sign, for ever; private ones are files. One key of a kind signs at a time.
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

-- Remediation proof. A newer one points at what it supersedes; a removed one keeps its row.
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
create index imports_by_content on imports (sha256);

create table artifact_removals (
  org_id uuid not null,
  artifact_id uuid not null,
  reason text not null check (length(reason) between 3 and 2000),
  removed_at timestamptz(3) not null default now(),
  removed_by jsonb not null,
  primary key (org_id, artifact_id),
  foreign key (org_id, artifact_id) references artifacts (org_id, id)
);

-- What was sealed keeps its bytes: a package is checked against them for years.
create table package_artifacts (
  org_id uuid not null,
  package_id uuid not null,
  artifact_id uuid not null,
  primary key (org_id, package_id, artifact_id),
  foreign key (org_id, artifact_id) references artifacts (org_id, id)
);
create index package_artifacts_by_artifact on package_artifacts (org_id, artifact_id);

do $$
declare
  tenant_table text;
begin
  foreach tenant_table in array array['log_origins', 'log_leaves', 'log_nodes', 'log_publications', 'log_checkpoints', 'artifacts', 'artifact_removals', 'package_artifacts'] loop
    execute format('alter table %I enable row level security', tenant_table);
    execute format('alter table %I force row level security', tenant_table);
    execute format(
      'create policy tenant on %I to rrs_app using (org_id = current_setting(''app.org_id'')::uuid) with check (org_id = current_setting(''app.org_id'')::uuid)',
      tenant_table
    );
    execute format('create policy system on %I to rrs_system using (true) with check (true)', tenant_table);
    execute format('grant select, insert on %I to rrs_app, rrs_system', tenant_table);
    execute format('create trigger insert_only before update or delete or truncate on %I for each statement execute function refuse_change()', tenant_table);
  end loop;
end
$$;

grant select on evidence_keys to rrs_app, rrs_system;
grant insert, update (valid_to) on evidence_keys to rrs_system;
