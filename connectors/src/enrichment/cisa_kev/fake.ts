import type { Json } from '../../core/contract.ts';
import type { FakeVendor } from '../../testing/fake-server.ts';

const FEED = '/sites/default/files/feeds/known_exploited_vulnerabilities.json';

const entry = (n: number): Json => ({
  cveID: `CVE-2025-${10_000 + n}`,
  vendorProject: 'Acme',
  product: `Gateway ${n}`,
  vulnerabilityName: `Acme Gateway ${n} Command Injection Vulnerability`,
  dateAdded: '2026-10-20',
  shortDescription: 'Acme Gateway does not validate its input.',
  requiredAction: 'Apply mitigations per vendor instructions.',
  dueDate: `2026-11-${String(10 + (n % 18)).padStart(2, '0')}`,
  knownRansomwareCampaignUse: n % 5 === 0 ? 'Known' : 'Unknown',
  notes: 'https://acme.example/advisories/1 ; https://nvd.nist.gov/vuln/detail/CVE-2025-10001',
  cwes: n % 2 === 0 ? ['CWE-78'] : [],
});

export const cisaKevFake: FakeVendor = {
  id: 'cisa_kev',
  settings: (origin) => ({ config: { feed_url: `${origin}${FEED}` }, credentials: {} }),
  answer({ badRecord }) {
    const vulnerabilities = Array.from({ length: 25 }, (_, n) => entry(n));
    if (badRecord) vulnerabilities.splice(5, 0, { vendorProject: 'Acme', dueDate: '2026-11-20' });
    return ({ url }) => {
      if (url.pathname !== FEED) return { status: 404, body: '<html><body>Page not found</body></html>' };
      return {
        page: true,
        body: {
          title: 'CISA Catalog of Known Exploited Vulnerabilities',
          catalogVersion: '2026.11.14',
          dateReleased: '2026-11-14T17:04:19.9796Z',
          count: vulnerabilities.length,
          vulnerabilities,
        },
      };
    };
  },
};
