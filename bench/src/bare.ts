import { createHash } from 'node:crypto';
import Fastify from 'fastify';
import pg from 'pg';
import { listedColumns } from '../../service/src/findings/fields/derive.ts';

/** The baseline: the same queries and the same JSON with the same libraries, and nothing else. */
const pool = new pg.Pool({ connectionString: process.env.BENCH_DATABASE_URL, options: '-c role=rrs_system -c search_path=rrs', max: 10 });
const tokenHash = createHash('sha256')
  .update(process.env.BENCH_KEY ?? '')
  .digest();
const KEY = `
  select k.org_id, o.slug, o.name as org_name, k.id, k.name, k.role, k.owner_member_id as member_id, null as email, k.expires_at
  from api_keys k join organizations o on o.id = k.org_id
  where k.org_id = $1 and k.token_hash = $2 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`;

/** As many permissions as the service returns. */
const PERMISSIONS = (process.env.BENCH_PERMISSIONS ?? '').split(',');

const app = Fastify();
app.get('/healthz', () => ({ status: 'ok' }));
app.get('/me', async () => {
  const { rows } = await pool.query({ name: 'key', text: KEY, values: [process.env.BENCH_ORG, tokenHash] });
  const [row] = rows;
  return {
    type: 'api_key',
    id: row.id,
    name: row.name,
    email: row.email,
    role: row.role,
    permissions: PERMISSIONS,
    organization: { id: row.org_id, slug: row.slug, name: row.org_name },
    expires_at: row.expires_at,
  };
});

const PAGE = `select ${listedColumns.join(', ')} from findings where org_id = $1 and listed order by risk_score desc, id desc limit 51`;
const ASSETS = 'select id, type, name, criticality, exposure from assets where org_id = $1 and id = any($2)';
const SOURCES = 'select id, kind, provider, tool, name from sources where org_id = $1 and id = any($2)';
const SEVERITIES = ['unknown', 'info', 'low', 'medium', 'high', 'critical'];
const LOCATION = ['component', 'version', 'fixed_version', 'purl', 'path', 'line', 'end_line', 'port', 'protocol', 'url', 'method', 'parameter', 'resource'];

app.get('/findings', async () => {
  const org = process.env.BENCH_ORG;
  const page = await pool.query({ name: 'page', text: PAGE, values: [org] });
  const shown = page.rows.slice(0, 50);
  const [assets, sources] = await Promise.all([
    pool.query({ name: 'assets', text: ASSETS, values: [org, [...new Set(shown.map((row) => row.asset_id))]] }),
    pool.query({ name: 'sources', text: SOURCES, values: [org, [...new Set(shown.flatMap((row) => row.source_ids))]] }),
  ]);
  const assetOf = new Map(assets.rows.map((asset) => [asset.id, asset]));
  const sourceOf = new Map(sources.rows.map((source) => [source.id, source]));
  const data = shown.map((row) => ({
    id: row.id,
    title: row.title,
    status: row.status,
    assurance: row.assurance,
    severity: SEVERITIES[row.severity],
    severity_overridden: row.severity_override !== null,
    severity_disputed: row.severity_disputed,
    cves: row.vulnerability_ids,
    vulnerability_ids: row.vulnerability_ids,
    cwes: row.cwes,
    cvss: null,
    epss: row.epss === null ? null : { score: row.epss, percentile: row.epss_percentile, date: row.epss_date },
    kev: { listed: row.kev, due_date: row.kev_due_date },
    exploit_maturity: row.exploit_maturity,
    malicious: row.malicious,
    fix_state: row.fix_state,
    fix_published_date: row.fix_published_date,
    rule: row.rule,
    risk_score: row.risk_score,
    asset: assetOf.get(row.asset_id),
    location: Object.fromEntries(LOCATION.map((name) => [name, row.location[name] ?? null])),
    place_count: row.place_count,
    sources: row.source_ids.map((id: string) => ({ ...sourceOf.get(id), connection_id: null })),
    first_seen: row.first_seen,
    last_seen: row.last_seen,
    due_at: row.due_at instanceof Date ? row.due_at : null,
    overdue: row.due_at < Date.now(),
    suppressed: false,
    reopen_count: row.reopen_count,
    tags: row.tags,
    status_reason: row.status_reason,
    reason_code: row.reason_code,
    status_changed_at: row.status_changed_at,
    acceptance: null,
    work_item_count: 0,
    work_items: [],
    version: row.version,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }));
  return {
    data,
    page: {
      limit: 50,
      next_cursor: shown.at(-1)?.id,
      prev_cursor: null,
      total: null,
    },
  };
});
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
process.once('SIGTERM', () => process.exit(0));
