import { createHash } from 'node:crypto';
import Fastify from 'fastify';
import pg from 'pg';

/** What `GET /me` is measured against: the same query and the same JSON on the same libraries, and nothing else. */
const pool = new pg.Pool({ connectionString: process.env.BENCH_DATABASE_URL, options: '-c role=rrs_system -c search_path=rrs', max: 10 });
const tokenHash = createHash('sha256')
  .update(process.env.BENCH_KEY ?? '')
  .digest();
const KEY = `
  select k.org_id, o.slug, o.name as org_name, k.id, k.name, k.role, k.owner_member_id as member_id, null as email, k.expires_at
  from api_keys k join organizations o on o.id = k.org_id
  where k.org_id = $1 and k.token_hash = $2 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`;

/** As many words as the service answers with. */
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
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);
process.once('SIGTERM', () => process.exit(0));
