import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../../db/connection/with-client.ts';
import { mintToken } from '../../organizations/api-keys/tokens.ts';
import { newId } from '../../shared/ids.ts';
import { type PackageBody, usePackages } from '../../testing/evidence/packages.ts';
import { storePackage } from '../../testing/evidence/stored-package.ts';
import { createMemoryLog } from '../../testing/log.ts';

const memory = createMemoryLog();
const world = usePackages({ config: { RRS_TRUSTED_PROXIES: '127.0.0.1', RRS_PUBLIC_URL: 'https://rrs.example' }, log: memory.log });
const EVIDENCE = '/api/v1/riskops-evidence';
const HOUR = 3_600_000;

interface Link {
  id: string;
  url: string;
  api_url: string;
  status: string;
  expires_at: string;
  downloads: number;
  last_download_at: string | null;
}

let item: string;
let sealed: PackageBody;
beforeAll(async () => {
  ({ id: item } = await world.post<{ id: string }>('/work-items', { title: 'Shared' }));
  sealed = await world.seal(item, { formats: ['csv', 'html'] });
});

const linksOf = (id = sealed.package_id): string => `/riskops-evidence/packages/${id}/share-links`;
const share = (more: object = {}, id?: string) => world.post<Link>(linksOf(id), { recipient: 'Grace', ...more });
const pathOf = ({ api_url }: Link): string => api_url.replace('https://rrs.example', '');
let visitors = 0;
/** Each request comes from its own address, so that invalid links do not add up. */
const visit = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  world.api().call(method, path, { headers: { 'x-forwarded-for': `203.0.113.${++visitors % 256}`, ...headers } });
const listed = async () => (await world.get<{ data: Link[] }>(linksOf())).data;
const events = async (action: string) => {
  const { rows } = await world.api().db.withSystem((tx) =>
    sql<{ actor_type: string; actor_name: string; address: string | null; after: Record<string, unknown> }>`
      select a.actor_type, a.actor_name, a.address, a.after from audit_events a
      where a.action = ${action} and a.object_id = ${sealed.package_id} and exists (
        select from events e where e.org_id = a.org_id and e.type = a.action and e.subject = a.object_id and e.data = a.after)
      order by a.id`.execute(tx),
  );
  return rows;
};
/** The response without the parts that differ between requests. */
const essence = ({ body, headers }: { body: unknown; headers: Headers }) => {
  const { instance, request_id, ...problem } = body as Record<string, unknown>;
  const kept = [...headers].filter(([name]) => !['date', 'x-request-id', 'content-length'].includes(name));
  return [problem, kept];
};
const revoke = (id: string) => world.api().call('DELETE', `/api/v1${linksOf()}/${id}`, { as: world.api().ours.owner });
/** Uses a superuser: the service itself may not change when a link expires. */
const expire = (id: string) =>
  withClient(world.api().databaseUrl, (client) => client.query(`update rrs.share_links set expires_at = now() - interval '1 second' where id = $1`, [id]));

describe('a share link', () => {
  it('gives an auditor without an account the package and every format', async () => {
    const link = await share();
    expect(link.url).toMatch(/^https:\/\/rrs\.example\/shared\/shr_[\w-]{64}$/);
    expect(link.api_url).toBe(link.url.replace('/shared/', '/api/v1/riskops-evidence/shared/'));
    const { status, headers, body } = await visit(pathOf(link));
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    const { conclusion, completeness, hashes, log } = sealed;
    expect(body).toMatchObject({
      organization: 'ours',
      recipient: 'Grace',
      expires_at: link.expires_at,
      package_id: sealed.package_id,
      conclusion,
      completeness,
      hashes,
      log,
      superseded: null,
      keys: { url: `${EVIDENCE}/keys` },
    });
    const { downloads } = body as PackageBody;
    expect(downloads.map(({ format }) => format)).toEqual(['zip', 'html', 'json', 'jsonl', 'csv']);
    for (const { url, sha256, size } of downloads) {
      expect(url.startsWith(`${pathOf(link)}/download?format=`)).toBe(true);
      const answer = await fetch(`${world.api().url}${url}`);
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect([answer.status, answer.headers.get('cache-control'), bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([
        200,
        'no-store',
        size,
        sha256,
      ]);
    }
  });

  it('records downloads, also partial ones, under the name of the recipient, but not HEAD requests', async () => {
    const link = await share({ recipient: 'Receipted' });
    const download = `${pathOf(link)}/download`;
    const from = { 'x-forwarded-for': '198.51.100.7' };
    await visit(pathOf(link));
    await visit(download, {}, 'HEAD');
    expect((await visit(download, from)).status).toBe(200);
    expect((await visit(`${download}?format=csv`, { ...from, range: 'bytes=0-3' })).status).toBe(206);
    expect((await visit(download, { 'if-none-match': `"${sealed.hashes.archive_sha256}"` })).status).toBe(304);
    expect((await visit(`${download}?format=pdf`)).status).toBe(404);
    const actor = { actor_type: 'system', actor_name: 'auditor: Receipted', address: '198.51.100.7' };
    expect((await events('package.downloaded')).filter(({ after }) => after.share_link_id === link.id)).toEqual([
      { ...actor, after: { format: 'zip', outcome: 'whole', share_link_id: link.id } },
      { ...actor, after: { format: 'csv', outcome: 'part', share_link_id: link.id } },
    ]);
    const row = (await listed()).find(({ id }) => id === link.id);
    expect(row).toMatchObject({ status: 'active', downloads: 2, last_download_at: expect.any(String) });
  });

  it('works for any client address that a proxy reports', async () => {
    const link = await share();
    for (const address of ['not an address', 'fe80::1%eth0', '2001:db8::7'])
      expect((await visit(`${pathOf(link)}/download`, { 'x-forwarded-for': address })).status).toBe(200);
    const { rows } = await world
      .api()
      .db.withSystem((tx) => sql<{ address: string }>`select address from package_receipts where share_link_id = ${link.id} order by id`.execute(tx));
    expect(rows.map(({ address }) => address)).toEqual([null, 'fe80::1', '2001:db8::7']);
  });

  it('lasts a week by default and 90 days at most', async () => {
    const hours = ({ expires_at }: Link) => (new Date(expires_at).getTime() - Date.now()) / HOUR;
    expect(hours(await share())).toBeCloseTo(168, 1);
    expect(hours(await share({ expires_in_hours: 2_160 }))).toBeCloseTo(2_160, 1);
    expect(hours(await share({ expires_at: new Date(Date.now() + 5 * HOUR).toISOString() }))).toBeCloseTo(5, 1);
    const wrong = [
      { expires_in_hours: 0 },
      { expires_in_hours: 2_161 },
      { expires_at: new Date(Date.now() - 1_000).toISOString() },
      { expires_at: new Date(Date.now() + 2_161 * HOUR).toISOString() },
      { expires_at: new Date(Date.now() + HOUR).toISOString(), expires_in_hours: 1 },
      { recipient: '' },
      { max_downloads: 0 },
      { max_downloads: 1_001 },
    ];
    for (const more of wrong) expect(await share(more), JSON.stringify(more)).toMatchObject({ status: 400, code: 'validation_failed' });
  });

  it('is listed without its token and created once per Idempotency-Key', async () => {
    const [first, again] = [
      await world.post<Link>(linksOf(), { recipient: 'Once' }, undefined, { 'idempotency-key': 'once' }),
      await world.post<Link>(linksOf(), { recipient: 'Once' }, undefined, { 'idempotency-key': 'once' }),
    ];
    expect(again).toEqual(first);
    const text = JSON.stringify(await listed());
    expect(text).toContain(first.id);
    expect(text).not.toContain('shr_');
    expect((await listed()).filter(({ id }) => id === first.id)).toHaveLength(1);
    const { rows } = await world.api().db.withSystem((tx) => sql<{ row: string }>`select l::text as row from share_links l`.execute(tx));
    expect(JSON.stringify(rows)).not.toContain(first.url.slice(-40));
  });

  it('is audited and emitted as an event, without its token, when created and when revoked', async () => {
    const link = await share({ recipient: 'Audited' });
    expect([(await revoke(link.id)).status, (await revoke(link.id)).status]).toEqual([204, 204]);
    const after = { share_link_id: link.id, recipient: 'Audited', expires_at: link.expires_at, max_downloads: null };
    expect((await events('package.shared')).filter((event) => event.after.share_link_id === link.id)).toMatchObject([{ actor_name: 'owner of ours', after }]);
    expect((await events('package.share_revoked')).filter((event) => event.after.share_link_id === link.id)).toMatchObject([{ after }]);
  });

  it('cannot be created for a package that is not sealed or does not exist', async () => {
    const { api } = world;
    const id = await storePackage(api(), { orgId: api().ours.id, workItemId: item, sequence: 900 });
    const generating = await api().db.withTenant({ orgId: api().ours.id }, async (tx) => {
      const values = { org_id: api().ours.id, id: newId(), work_item_id: item, work_item_title: 'Waiting', sequence: 901, formats: [], requested_by: '{}' };
      await tx.insertInto('evidence_packages').values(values).execute();
      return values.id;
    });
    expect(await share({}, id)).toMatchObject({ recipient: 'Grace' });
    expect(await share({}, generating)).toMatchObject({ status: 409 });
    expect(await share({}, item)).toMatchObject({ status: 404 });
  });

  it('keeps working when the package is superseded, and says so', async () => {
    const { id } = await world.post<{ id: string }>('/work-items', { title: 'Superseded' });
    const first = await world.seal(id);
    const link = await share({}, first.package_id);
    const second = await world.seal(id);
    expect(await visit(pathOf(link))).toMatchObject({
      status: 200,
      body: { superseded: { by: second.package_id, reason: expect.stringContaining('replaced it') } },
    });
    expect((await visit(`${pathOf(link)}/download`)).status).toBe(200);
  });
});

describe('an invalid share link', () => {
  it('gets the same response whether it is unknown, expired, revoked or malformed', async () => {
    const [expired, revoked] = [await share({ expires_in_hours: 1 }), await share()];
    await revoke(revoked.id);
    await expire(expired.id);
    const unknown = `${EVIDENCE}/shared/${mintToken('shr', world.api().ours.id).token}`;
    const ofNobody = `${EVIDENCE}/shared/${mintToken('shr', '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11').token}`;
    const paths = [unknown, ofNobody, pathOf(expired), pathOf(revoked), `${EVIDENCE}/shared/nonsense`];
    for (const suffix of ['', '/download', '/download?format=csv']) {
      const answers = [];
      for (const path of paths) answers.push(await visit(path + suffix));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
      expect(new Set(answers.map((answer) => JSON.stringify(essence(answer)))).size).toBe(1);
    }
    expect((await listed()).find(({ id }) => id === expired.id)?.status).toBe('expired');
    expect((await listed()).find(({ id }) => id === revoked.id)?.status).toBe('revoked');
  });

  it('counts toward the rate limit of the address; a valid one does not', async () => {
    const good = pathOf(await share());
    const from = { 'x-forwarded-for': '192.0.2.1' };
    for (let n = 0; n < 40; n++) expect((await visit(good, from)).status).toBe(200);
    const statuses = [];
    for (let n = 0; n < 40; n++) statuses.push((await visit(`${EVIDENCE}/shared/${mintToken('shr', world.api().ours.id).token}`, from)).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([404, 429]);
    expect((await visit(good, from)).headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await visit(good)).status).toBe(200);
  });
});

it('writes no token to the log', async () => {
  const link = await share();
  const token = pathOf(link).split('/').at(-1) ?? '';
  await visit(`${pathOf(link)}/download`, { 'x-request-id': 'the-last-visit' });
  await expect.poll(() => memory.text()).toContain('the-last-visit');
  expect(token).toHaveLength(68);
  expect(memory.text()).not.toContain(token.slice(4, 24));
});
