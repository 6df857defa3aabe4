import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';
import { learnScores } from '../../vulnerabilities/learn.ts';
import { rescoreKnown } from './rescore.ts';

const service = useImportsWithApi();
const { get, send } = service;

interface Shown {
  id: string;
  version: number;
  updated_at: string;
  epss: { score: number; percentile: number; date: string } | null;
  risk: { score: number; factors: { name: string; date: string | null }[] };
}

let hosts = 0;
async function found(cve: string): Promise<string> {
  const { body } = await send('POST', '/findings', { title: cve, severity: 'medium', asset: { type: 'host', name: `host-${hosts++}` }, cves: [cve] });
  return (body as Shown).id;
}
const read = (id: string): Promise<Shown> => get(`/findings/${id}`);
const learn = (...scores: Parameters<typeof learnScores>[1]) => service.api().db.withSystem((tx) => learnScores(tx, scores));
const rescore = (portion?: number) => rescoreKnown(service.api().db, service.api().ours.id, service.api().follower, portion);
/** The transaction that last wrote the row. */
const writer = async (id: string): Promise<unknown> => {
  const { rows } = await service
    .api()
    .db.withTenant({ orgId: service.api().ours.id }, (tx) => sql`select xmin::text from findings where id = ${id}`.execute(tx));
  return rows[0];
};

it('a new score changes the risk, but neither the version nor the time of the last change', async () => {
  const id = await found('CVE-2026-1001');
  await learn({ id: 'CVE-2026-1001', score: 0.1, percentile: 0.5, date: '2026-11-15' });
  await rescore();
  const before = await read(id);
  await learn({ id: 'CVE-2026-1001', score: 0.9, percentile: 0.99, date: '2026-11-16' });
  await rescore();
  const after = await read(id);
  expect(after.epss).toEqual({ score: 0.9, percentile: 0.99, date: '2026-11-16' });
  expect(after.risk.score).toBeGreaterThan(before.risk.score);
  expect([after.version, after.updated_at]).toEqual([before.version, before.updated_at]);
});

it('a newer file with the same score is shown, and no finding is written for it', async () => {
  const id = await found('CVE-2026-1002');
  await learn({ id: 'CVE-2026-1002', score: 0.2, percentile: 0.5, date: '2026-11-15' });
  await rescore();
  const written = await writer(id);
  await learn({ id: 'CVE-2026-1002', score: 0.2, percentile: 0.6, date: '2026-11-16' });
  await rescore();
  const shown = await read(id);
  expect(shown.epss).toEqual({ score: 0.2, percentile: 0.6, date: '2026-11-16' });
  expect(shown.risk.factors.find(({ name }) => name === 'exploitation_likelihood')).toMatchObject({ date: '2026-11-16' });
  expect(await writer(id)).toEqual(written);
});

it('a vulnerability that becomes known to be exploited changes the version', async () => {
  const id = await found('CVE-2026-1003');
  const before = await read(id);
  await service.api().db.withSystem((tx) => tx.insertInto('vulnerabilities').values({ id: 'CVE-2026-1003', kev: true, kev_version: '2026.11.16' }).execute());
  await rescore();
  expect((await read(id)).version).toBe(before.version + 1);
});

it('a check for several vulnerabilities has the worst that is known of them, whether that is learned before or after the import', async () => {
  const ids = ['CVE-2026-1011', 'CVE-2026-1012', 'CVE-2026-1013'];
  const importCheck = (rule: string) => service.run([seen({ tool: 'nessus', rule, vulnerability_ids: ids })]);
  await importCheck('before');
  await service.api().db.withSystem(async (tx) => {
    const facts = { kev_version: '2026.11.16', cvss_version: '3.1' };
    const vector = (availability: string) => `CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:${availability}`;
    const rows = [
      { id: ids[0] ?? '', kev: false, ...facts, cvss_score: 7.5, cvss_vector: vector('H') },
      { id: ids[1] ?? '', kev: true, kev_due_date: '2026-12-01', ...facts, cvss_score: 5.3, cvss_vector: vector('L') },
    ];
    await tx.insertInto('vulnerabilities').values(rows).execute();
  });
  await learn(...ids.map((id, n) => ({ id, score: [0.1, 0.2, 0.7][n] ?? 0, percentile: 0.5, date: '2026-11-16' })));
  await rescore();
  const worst = { kev: { listed: true, due_date: '2026-12-01' }, epss: { score: 0.7, percentile: 0.5, date: '2026-11-16' }, cvss: { score: 7.5 } };
  expect(await service.finding('nessus:before')).toMatchObject(worst);
  await importCheck('after');
  expect(await service.finding('nessus:after')).toMatchObject(worst);
});

it('all findings are reached, in portions of any size', async () => {
  const cves = Array.from({ length: 7 }, (_, n) => `CVE-2026-20${n}0`);
  const ids = [];
  for (const cve of cves) ids.push(await found(cve), await found(cve));
  for (const [index, portion] of [1, 2, 3, 5, 100].entries()) {
    const score = (index + 1) / 10;
    await learn(...cves.map((id) => ({ id, score, percentile: 0.5, date: '2026-11-16' })));
    await rescore(portion);
    expect(await Promise.all(ids.map(async (id) => (await read(id)).epss?.score))).toEqual(ids.map(() => score));
  }
});

it('rescoring that ends between two portions reaches the rest when it runs again, and changes nothing twice', async () => {
  const cve = 'CVE-2026-3001';
  const ids = [await found(cve), await found(cve), await found(cve)];
  const versions = (await Promise.all(ids.map(read))).map(({ version }) => version);
  await service.api().db.withSystem((tx) => tx.insertInto('vulnerabilities').values({ id: cve, kev: true, kev_version: '2026.11.16' }).execute());
  const { db, ours, follower } = service.api();
  const { rows } = await db.withTenant({ orgId: ours.id }, (tx) =>
    sql<{ before: number }>`select count(*)::int as before from findings where id < ${ids[0]}`.execute(tx),
  );
  let portions = 0;
  const withTenant: typeof db.withTenant = async (tenant, work) => {
    if (++portions > 2) throw new Error('killed');
    return db.withTenant(tenant, work);
  };
  // The second portion contains the first of them and ends before the others.
  await expect(rescoreKnown({ ...db, withTenant }, ours.id, follower, Math.ceil(((rows[0]?.before ?? 0) + 1) / 2))).rejects.toThrow('killed');
  const rescored = async () => (await Promise.all(ids.map(read))).map(({ version }, n) => version - (versions[n] ?? 0));
  expect((await rescored()).slice(0, 1)).toEqual([1]);
  expect(await rescored()).toContain(0);
  await rescore();
  expect(await rescored()).toEqual([1, 1, 1]);
});

it('a report that is imported again changes nothing, even if a newer file of scores came in between', async () => {
  const importReport = () => service.run([seen({ vulnerability_ids: ['CVE-2026-1005'] })]);
  expect(await importReport()).toMatchObject({ created: 1 });
  await learn({ id: 'CVE-2026-1005', score: 0.3, percentile: 0.5, date: '2026-11-15' });
  await rescore();
  const before = await service.finding<Shown>('CVE-2026-1005');
  await learn({ id: 'CVE-2026-1005', score: 0.3, percentile: 0.7, date: '2026-11-16' });
  await rescore();
  expect(await importReport()).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
  const after = await service.finding<Shown>('CVE-2026-1005');
  expect(after.epss).toEqual({ score: 0.3, percentile: 0.7, date: '2026-11-16' });
  expect([after.version, after.updated_at]).toEqual([before.version, before.updated_at]);
});
