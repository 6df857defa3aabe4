import type pg from 'pg';
import { newId } from '../../shared/ids.ts';

/**
 * Adds many findings like those of years of scans: skewed severities, mostly open, a few tags and sources, different titles.
 * Writes directly into the tables, because the tests only read them.
 */
export async function seedFindings(admin: pg.Client, orgId: string, { from = 1, to }: { from?: number; to: number }): Promise<void> {
  const [scanner, other] = [newId(), newId()];
  await admin.query(
    `insert into sources (org_id, id, kind, provider, name) values ($1, $2::uuid, 'import', 'trivy', $2::uuid), ($1, $3::uuid, 'import', 'nessus', $3::uuid)`,
    [orgId, scanner, other],
  );
  const assets = Math.ceil(to / 100);
  await admin.query(
    `insert into assets (org_id, id, type, name, owner, criticality, exposure, tags)
     select $1::uuid, ${id('a', 'n')}, ${TYPE}, 'asset-' || n || '.example.com', 'team-' || n % 50, (array['low', 'medium', 'medium', 'high'])[1 + n % 4],
       case when n % 100 = 0 then 'internet' else 'internal' end, case when n % 500 = 0 then '{pci}'::text[] else '{}' end
     from generate_series(1, $2::int) n on conflict do nothing`,
    [orgId, assets],
  );
  await admin.query(
    `insert into findings (org_id, id, asset_id, asset_type, weakness, identity_key, title, status, status_reason, status_changed_at, assurance, acceptance_owner,
       acceptance_expires_at, justification, closed_at, severity, source_severity, vulnerability_ids, cwes, epss, epss_date, kev, risk_score, component, location, rule, fix_state, severity_disputed,
       source_ids, first_seen, last_seen, due_at, clock_from, tags, search, created_at, updated_at)
     select $1::uuid, ${id('f', 'i')}, ${id('a', 'n')}, ${TYPE}, cve, decode(md5(i::text), 'hex'), title, status, 'seeded', now() - random() * interval '100 days',
       case status when 'verified' then (array['scan_only', 'scan_after_claim', 'independent'])[1 + i % 3] when 'remediated' then 'declared' end,
       case status when 'risk_accepted' then 'owner' end, case status when 'risk_accepted' then now() + interval '90 days' end,
       case status when 'false_positive' then 'code_not_present' end, case when status in ('verified', 'risk_accepted', 'false_positive', 'withdrawn') then now() end,
       severity, severity, array[cve], array[cwe], case when i % 3 <> 0 then power(random(), 4) end, case when i % 3 <> 0 then '2026-01-01' end, i % 97 = 0,
       round((random() * 100)::numeric, 1), component, jsonb_build_object('component', component, 'version', '1.2.' || i % 50, 'path', path), 'RULE-' || i % 3000, case when i % 1000 <> 0 then 'available' end, i % 2000 = 0, array[source],
       seen, least(now(), seen + random() * interval '60 days'), case when i % 11 = 0 then 'infinity' else seen + interval '45 days' end, seen,
       case when i % 20 = 0 then array['team-' || i % 7] else '{}' end,
       array_to_tsvector(array['v:' || lower(cve), 'k:' || cwe, case when i % 4 = 0 then 'p:nessus' else 'p:trivy' end, 'a:' || ${TYPE}, 'w:' || component, 'w:overflow', 'w:asset-' || n || '.example.com',
           'w:1.2.' || i % 50, 'w:' || path, 'w:rule-' || i % 3000]
         || case when i % 20 = 0 then array['t:team-' || i % 7] else '{}' end),
       seen, seen + random() * interval '10 days'
     from (
       select i, 1 + i % $2::int as n, 'CVE-2024-' || (10000 + i % 40000) as cve, (array[79, 89, 125, 416, 787, 20, 22])[1 + i % 7] as cwe,
         (array['openssl', 'curl', 'zlib', 'glibc', 'lodash', 'log4j-core'])[1 + i % 6] || '-' || i % 500 as component,
         'src/module-' || i % 800 || '/file-' || i % 9 || '.ts' as path, (array[5, 4, 4, 3, 3, 3, 3, 2, 2, 1])[1 + i % 10] as severity,
         (array['open', 'open', 'open', 'open', 'open', 'open', 'in_progress', 'remediated', 'verified', 'verified', 'verified', 'verified', 'verified', 'risk_accepted', 'false_positive', 'withdrawn'])[1 + (i / 3) % 16] as status,
         case when i % 4 = 0 then $4::uuid else $3::uuid end as source, now() - (i % 700) * interval '1 day' - random() * interval '1 day' as seen,
         'A buffer overflow in component ' || i % 500 || ' when it reads a crafted input, number ' || i as title
       from generate_series($5::int, $6::int) i
     ) made`,
    [orgId, assets, scanner, other, from, to],
  );
}

const TYPE = `(array['host', 'host', 'host', 'host', 'container_image', 'container_image', 'container_image', 'repository', 'repository', 'web_application', 'cloud_resource'])[1 + n % 11]`;

/** Returns the same id for the same number. Ids grow with the number, as UUIDv7 do with time. */
function id(kind: string, number: string): string {
  return `overlay(md5('${kind}' || ${number} || $1::uuid) placing lpad(to_hex(${number}), 12, '0') from 1 for 12)::uuid`;
}
