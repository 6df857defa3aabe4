import type { Json } from '../../core/contract.ts';
import type { FakeVendor } from '../../testing/fake-server.ts';

const RECORDS = 24;
const cve = (n: number): string => `CVE-2025-${10_000 + n}`;
const ghsa = (n: number): string => `GHSA-2222-3333-44${'23456789cfghjmpqrvwx'[n % 20]}${'23456789cfghjmpqrvwx'[Math.floor(n / 20)]}`;

const vulnerability = (id: string, aliases: string[], n: number): Json => ({
  schema_version: '1.7.0',
  id,
  modified: `2026-11-${String(1 + (n % 14)).padStart(2, '0')}T08:00:00.123456Z`,
  published: '2026-10-01T08:00:00Z',
  aliases,
  summary: `Weakness ${n}`,
  details: 'The library does not validate its input.',
  severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N' }],
  affected: [{ package: { ecosystem: 'npm', name: `lib${n}` }, ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '1.0.1' }] }] }],
  database_specific: { severity: 'HIGH', cwe_ids: ['CWE-79'], github_reviewed: true },
});

export const osvFake: FakeVendor = {
  id: 'osv',
  settings: (origin) => ({ config: { api_url: origin }, credentials: {} }),
  // The last CVE is known only by its alias.
  wanted: [...Array.from({ length: RECORDS }, (_, n) => cve(n)), 'CVE-2026-99999', ghsa(0), ghsa(1), 'GHSA-zzzz-none-0000', 'SNYK-JS-LIB-1'].sort(),
  answer({ badRecord }) {
    const records = new Map<string, Json>([['GHSA-jfh8-c2jp-5v3q', vulnerability('GHSA-jfh8-c2jp-5v3q', ['CVE-2021-44228'], 0)]]);
    for (let n = 0; n < RECORDS; n++) {
      records.set(ghsa(n), vulnerability(ghsa(n), [cve(n)], n));
      if (n < RECORDS - 1) records.set(cve(n), vulnerability(cve(n), [ghsa(n)], n));
    }
    if (badRecord) records.set('CVE-2026-99999', { id: 'CVE-2026-99999', modified: 'yesterday' });
    return ({ url }) => {
      const missing = (message: string) => ({ status: 404, body: { code: 5, message } });
      const id = /^\/v1\/vulns\/([^/]+)$/.exec(url.pathname)?.[1];
      if (id === undefined) return missing('Not Found');
      const record = records.get(decodeURIComponent(id));
      if (record) return { page: true, body: record };
      return missing(id === cve(RECORDS - 1) ? `Bug not found, but the following aliases were: ${ghsa(RECORDS - 1)}` : 'Bug not found.');
    };
  },
};
