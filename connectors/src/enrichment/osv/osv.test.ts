import { afterEach, describe, expect, it } from 'vitest';
import type { Enrichment, Json } from '../../core/contract.ts';
import { connectors } from '../../registry.ts';
import { type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { contextOf, learn } from '../../testing/host.ts';
import { osvFake } from './fake.ts';

const osv = connectors.find(({ id }) => id === 'osv') as Enrichment;
const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

const modified = '2026-11-14T08:00:00Z';

async function query(records: Record<string, Json>, ids: string[], missing = 'Bug not found.') {
  const answer = (id: string) => (records[id] ? { body: records[id] } : { status: 404, body: { code: 5, message: missing } });
  const fake = await serveFake({ ...osvFake, answer: () => (request) => answer(request.url.pathname.replace('/v1/vulns/', '')) }, { pageSize: 10 });
  running.push(fake);
  const learned = await learn(osv, contextOf(osv, osvFake.settings(fake.origin)), { ids, pageSize: 10 });
  return { ...learned, requested: fake.requests.map(({ url }) => url.pathname) };
}

describe('OSV', () => {
  it('sends only ids of public databases', async () => {
    const { requested } = await query({}, [
      'CVE-2025-10000',
      'GO-2024-2611',
      'INTERNAL-42',
      'RUSTSEC-2024-0001',
      'SNYK-JS-LIB-1',
      '../v1/query',
      'SUSE-SU-2024:1-1',
    ]);
    expect(requested).toEqual(['/v1/vulns/CVE-2025-10000', '/v1/vulns/GO-2024-2611', '/v1/vulns/RUSTSEC-2024-0001', '/v1/vulns/SUSE-SU-2024%3A1-1']);
  });

  it('queries the aliases that OSV names', async () => {
    const { items, requested } = await query(
      { 'GHSA-2222-3333-4444': { id: 'GHSA-2222-3333-4444', modified, aliases: ['CVE-2025-10000'] } },
      ['CVE-2025-10000'],
      'Bug not found, but the following aliases were: GHSA-2222-3333-4444 PYSEC-2025-1',
    );
    expect(requested).toEqual(['/v1/vulns/CVE-2025-10000', '/v1/vulns/GHSA-2222-3333-4444', '/v1/vulns/PYSEC-2025-1']);
    expect(items).toEqual([{ id: 'CVE-2025-10000', aliases: ['GHSA-2222-3333-4444'] }]);
  });

  it('ignores withdrawn records', async () => {
    const { items, rejected } = await query({ 'CVE-2025-10000': { id: 'CVE-2025-10000', modified, withdrawn: modified, aliases: ['GHSA-2222-3333-4444'] } }, [
      'CVE-2025-10000',
    ]);
    expect([items, rejected]).toEqual([[], []]);
  });

  it('does not make several CVEs aliases of each other', async () => {
    const { items } = await query({ 'GO-2024-2611': { id: 'GO-2024-2611', modified, aliases: ['CVE-2025-10000', 'CVE-2025-10001', 'GHSA-2222-3333-4444'] } }, [
      'GO-2024-2611',
    ]);
    expect(items).toEqual([{ id: 'GO-2024-2611', aliases: ['GHSA-2222-3333-4444'] }]);
  });

  it('reads vectors of the record and of packages, and ignores labels', async () => {
    const record = {
      id: 'CVE-2025-10000',
      modified,
      severity: [
        { type: 'CVSS_V4', score: 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N' },
        { type: 'Ubuntu', score: 'medium' },
      ],
      affected: [{ severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N' }] }],
      database_specific: { cwe_ids: ['CWE-79', 'CWE-20'] },
    };
    const { items, asOf } = await query({ 'CVE-2025-10000': record }, ['CVE-2025-10000']);
    expect(items).toEqual([
      {
        id: 'CVE-2025-10000',
        cwes: [79, 20],
        cvss: [{ vector: 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N' }, { vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N' }],
      },
    ]);
    expect(asOf).toBe(modified);
  });
});
