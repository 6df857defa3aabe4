-- What a link led to, taken from there over a connection: the artifact that has the bytes, and the link that it supersedes.
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

alter table artifact_captures enable row level security;
alter table artifact_captures force row level security;
create policy tenant on artifact_captures to rrs_app using (org_id = current_setting('app.org_id')::uuid) with check (org_id = current_setting('app.org_id')::uuid);
create policy system on artifact_captures to rrs_system using (true) with check (true);
grant select, insert on artifact_captures to rrs_app, rrs_system;
create trigger insert_only before update or delete or truncate on artifact_captures for each statement execute function refuse_change();
