import type pg from 'pg';

/**
 * Findings whose sort columns all grow with their number, so that it is known where in any order a finding is. A finding belongs to one of four
 * zones, and almost every other column names the zone: filters match at one end of the list, at the other end, all over it, or nothing.
 */
export const zones = ['low', 'high', 'spread', 'none'] as const;
export type Zone = (typeof zones)[number];

/** Matches of each zone. */
export const ZONE_SIZE = 5_000;

/** For each zone, values of the columns that have a fixed set of them. The kind of its source is null if other findings have it as well. */
export const ZONE_VALUES = {
  low: { status: 'withdrawn', type: 'repository', cve: 'CVE-2024-10001', cwe: 79, criticality: 'low', exposure: 'internet', kind: 'manual' },
  high: { status: 'false_positive', type: 'web_application', cve: 'CVE-2024-10002', cwe: 89, criticality: 'high', exposure: 'internal', kind: 'connection' },
  spread: { status: 'risk_accepted', type: 'cloud_resource', cve: 'CVE-2024-10003', cwe: 125, criticality: 'critical', exposure: 'unknown', kind: null },
  none: { status: 'remediated', type: 'package', cve: 'CVE-1999-0001', cwe: 20, criticality: 'medium', exposure: 'unknown', kind: null },
} as const;

const named = (column: Exclude<keyof (typeof ZONE_VALUES)['low'], 'kind'>, rest: string): string =>
  `case zone ${(['low', 'high', 'spread'] as const).map((zone) => `when '${zone}' then '${ZONE_VALUES[zone][column]}'`).join(' ')} else ${rest} end`;

/** Findings are numbered from 1. */
export function zoneOf(number: number, count: number): Zone | 'rest' {
  if (number <= ZONE_SIZE) return 'low';
  if (number > count - ZONE_SIZE) return 'high';
  return number % Math.floor(count / ZONE_SIZE) === 0 ? 'spread' : 'rest';
}

interface Ranked {
  orgId: string;
  /** An import that created the findings of the zone `high`. */
  importId: string;
  /** A work item with the findings of the zone `high`. */
  workItemId: string;
}

/** Writes directly into the tables, and builds indexes afterwards: both are many times faster than importing. */
export async function seedRankedFindings(admin: pg.Client, { orgId, importId, workItemId }: Ranked, count: number): Promise<void> {
  const zone = `case when i <= ${ZONE_SIZE} then 'low' when i > ${count - ZONE_SIZE} then 'high' when i % ${Math.floor(count / ZONE_SIZE)} = 0 then 'spread' else 'rest' end`;
  const asset = `case when zone = 'rest' then 'rest-' || i % 1900 else zone || '-' || i % 20 end`;
  const id = (text: string): string => `md5(${text})::uuid`;
  await admin.query(`set session_replication_role = replica; set maintenance_work_mem = '256MB'`);
  await admin.query('insert into organizations (id, slug, name) values ($1, $2, $2)', [orgId, `ranked-${orgId}`]);
  await admin.query(
    `insert into sources (org_id, id, kind, provider, name)
     select $1::uuid, ${id('zone')}, case zone when 'low' then 'manual' when 'high' then 'connection' else 'import' end, zone, zone from unnest(array['low', 'high', 'spread', 'rest']) zone
     union all select $1::uuid, ${id(`'report ' || zone`)}, 'import', zone, 'report' from unnest(array['low', 'high']) zone`,
    [orgId],
  );
  const indexes = await dropIndexes(admin, ['findings', 'sightings']);
  await admin.query(
    `insert into findings (org_id, id, asset_id, asset_type, weakness, identity_key, title, status, status_reason, status_changed_at, assurance, acceptance_owner,
       acceptance_expires_at, justification, closed_at, severity, source_severity, vulnerability_ids, cwes, epss, kev, risk_score, component, location, rule,
       fix_state, severity_disputed, source_ids, first_seen, last_seen, due_at, clock_from, tags, search, created_at, updated_at)
     select $1::uuid, overlay(md5('f' || i) placing lpad(to_hex(i), 12, '0') from 1 for 12)::uuid, ${id('asset')}, type, cve, decode(md5(i::text), 'hex'), 'Finding ' || i, status, 'seeded', now(),
       case status when 'verified' then 'scan_only' end, case status when 'risk_accepted' then 'Ada' end, case status when 'risk_accepted' then now() end,
       case status when 'false_positive' then 'code_not_present' end, case when status <> 'open' then now() end, severity, severity, array[cve], array[cwe::int],
       i::real / ${count}, zone = 'low', 100.0 * i / ${count}, component, jsonb_build_object('component', component, 'path', path), 'rule-' || zone,
       case when zone <> 'spread' then 'available' end, zone = 'high', array[${id('zone')}], seen, seen + interval '1 day', seen + interval '200 days', seen, array[zone],
       array_to_tsvector(array['v:' || lower(cve), 'k:' || cwe, 'p:' || zone, 'a:' || type, 't:' || zone, 'w:' || component, 'w:everywhere', 'w:src/' || zone || '/' || i % 100, 'w:rule-' || zone] || case zone when 'high' then array['c:high'] else '{}' end),
       seen, seen + interval '2 days'
     from (
       select i, zone, ${asset} as asset, ${named('type', `'host'`)} as type, ${named('cve', `'CVE-2024-' || 20000 + i % 30000`)} as cve, ${named('cwe', `'416'`)} as cwe,
         ${named('status', `case when i % 2 = 0 then 'open' else 'verified' end`)} as status, ((i - 1) * 6 / ${count})::smallint as severity, 'lib-' || zone as component,
         'src/' || zone || '/' || i % 100 as path, now() - interval '300 days' + i * interval '1 minute' as seen
       from (select i, ${zone} as zone from generate_series(1, ${count}) i) placed
     ) made`,
    [orgId],
  );
  await admin.query(
    `insert into assets (org_id, id, type, name, owner, criticality, exposure, tags)
     select $1::uuid, ${id('asset')}, min(type), 'asset-' || asset, zone, ${named('criticality', `'medium'`)}, ${named('exposure', `'internal'`)}, array[zone]
     from (select zone, ${asset} as asset, ${named('type', `'host'`)} as type from (select i, ${zone} as zone from generate_series(1, ${count}) i) placed) made
     group by asset, zone`,
    [orgId],
  );
  await admin.query(
    `insert into sightings (org_id, finding_id, source_id, state, absence, absent_at, severity, suppressed, content, first_seen, last_seen)
     select org_id, id, source_ids[1], case when closed_at is null or kev then 'present' else 'absent' end, case when closed_at is not null and not kev then 'gone' end,
       case when closed_at is not null and not kev then last_seen end, severity, kev, identity_key, first_seen, last_seen from findings`,
  );
  await admin.query(`insert into asset_tracks (org_id, asset_id, n, name, kind, counts) select org_id, id, 0, 'branch-' || owner, 'default', true from assets`);
  await admin.query(
    `insert into import_changes (org_id, import_id, kind, finding_ids) select $1, $2, 'created', array_agg(id) from findings where severity_disputed`,
    [orgId, importId],
  );
  await admin.query(`insert into work_items (org_id, id, title, created_by_name) values ($1, $2, 'Ranked', 'Ada')`, [orgId, workItemId]);
  await admin.query(
    `insert into work_item_findings (org_id, id, work_item_id, finding_id, linked_by) select org_id, id, $1, id, 'Ada' from findings where severity_disputed`,
    [workItemId],
  );
  await admin.query(
    `insert into decisions (org_id, finding_id, id, kind, state, person_name, owner, reason, expires_at, severity, kev, decided_at)
     select org_id, id, id, 'acceptance', 'requested', 'Ada', 'Ada', 'x', now(), 4, false, now() from findings where fix_state is null`,
  );
  for (const index of indexes) await admin.query(index);
  await admin.query('reset session_replication_role');
  await admin.query('vacuum analyze');
}

/** Drops the indexes that no constraint needs, and returns the statements that create them. */
async function dropIndexes(admin: pg.Client, tables: readonly string[]): Promise<string[]> {
  const { rows } = await admin.query<{ name: string; statement: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as statement from pg_index i
     where i.indrelid = any($1::regclass[]) and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
    [tables],
  );
  for (const { name } of rows) await admin.query(`drop index ${name}`);
  return rows.map(({ statement }) => statement);
}
