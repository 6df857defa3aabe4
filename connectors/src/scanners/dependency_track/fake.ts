import type { Json } from '../../core/contract.ts';
import type { FakeResponse, FakeVendor } from '../../testing/fake-server.ts';

const KEY = 'odt_0123456789abcdef';
const projects: Record<string, Json>[] = [
  { uuid: '6c400000-0000-4000-8000-000000000001', name: 'shop', group: 'com.acme', version: '1.4.0', classifier: 'APPLICATION', active: true },
  { uuid: '6c400000-0000-4000-8000-000000000002', name: 'registry.example.com/acme/site', version: '7', classifier: 'CONTAINER', active: true },
  { uuid: '6c400000-0000-4000-8000-000000000003', name: 'tools', version: '2.0.0', classifier: 'LIBRARY', purl: 'pkg:npm/tools@2.0.0', active: true },
  { uuid: '6c400000-0000-4000-8000-000000000004', name: 'empty', classifier: 'APPLICATION', active: true },
].map((project) => ({ ...project, lastBomImport: Date.UTC(2026, 10, 10), lastVulnerabilityAnalysis: Date.UTC(2026, 10, 14) }));
const states = ['NOT_SET', 'EXPLOITABLE', 'IN_TRIAGE', 'FALSE_POSITIVE', 'NOT_AFFECTED'];

const finding = (n: number): Record<string, Json> => {
  const project = String(projects[n % 3]?.uuid);
  const [component, vulnerability] = [`c0000000-0000-4000-8000-0000000000${n + 10}`, `f0000000-0000-4000-8000-0000000000${n + 10}`];
  return {
    component: { uuid: component, name: `lib${n}`, group: 'org.acme', version: '1.0.0', purl: `pkg:maven/org.acme/lib${n}@1.0.0`, project },
    vulnerability: {
      uuid: vulnerability,
      source: n % 2 === 0 ? 'NVD' : 'GITHUB',
      vulnId: n % 2 === 0 ? `CVE-2025-${4000 + n}` : `GHSA-2222-4444-${2222 + n}`,
      severity: ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'INFO', 'UNASSIGNED'][n % 6] ?? 'UNASSIGNED',
      cvssV3BaseScore: 7.5,
      cvssV3Vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N',
      description: 'Input is not checked.',
      recommendation: 'Upgrade to a newer version.',
      cwes: [{ cweId: 79, name: 'Cross-site Scripting' }],
      aliases: n % 2 === 0 ? [] : [{ cveId: `CVE-2025-${4000 + n}`, ghsaId: `GHSA-2222-4444-${2222 + n}` }],
    },
    analysis: { state: states[n % 5] ?? 'NOT_SET', isSuppressed: n % 5 > 2 },
    attribution: { analyzerIdentity: 'INTERNAL_ANALYZER', attributedOn: Date.UTC(2026, 8, 1) },
    matrix: `${project}:${component}:${vulnerability}`,
  };
};

/** `isPaged`: version 5 returns pages of findings, earlier versions return all at once. */
export function dependencyTrackVendor(isPaged: boolean): FakeVendor {
  return {
    id: 'dependency_track',
    settings: (origin) => ({ config: { api_url: origin }, credentials: { api_key: KEY } }),
    refused: (origin) => ({ config: { api_url: origin }, credentials: { api_key: 'odt_revoked0123456' } }),
    answer({ pageSize, endless, badRecord, shifts }) {
      const findings = Array.from({ length: 34 }, (_, n) => finding(n));
      if (badRecord) findings.splice(5, 0, { component: { project: String(projects[0]?.uuid) }, vulnerability: {}, matrix: 'x' });
      const listed = ({ searchParams, pathname }: URL, all: readonly Json[], page: boolean): FakeResponse => {
        const size = page && !isPaged ? 1_000 : Math.min(Number(searchParams.get('pageSize') ?? 100), pageSize);
        const from = page && !isPaged ? 0 : (Number(searchParams.get('pageNumber') ?? 1) - 1) * size;
        const total = endless && page ? from + 2 * size : all.length;
        return { page: page && pathname.includes('/finding/'), headers: { 'x-total-count': String(total) }, body: all.slice(from, from + size) };
      };
      return ({ url, headers }) => {
        if (headers['x-api-key'] !== KEY) return { status: 401, body: 'Unauthorized' };
        if (url.pathname === '/api/v1/project') return listed(url, projects, false);
        if (url.pathname === '/api/v1/project/tag/web') return listed(url, projects.slice(1, 2), false);
        const [, uuid] = /^\/api\/v1\/finding\/project\/([\w-]+)$/.exec(url.pathname) ?? [];
        if (!projects.some((project) => project.uuid === uuid)) return { status: 404, body: 'The project could not be found.' };
        const shown = findings.filter(
          ({ component, analysis }) =>
            (component as { project: string }).project === uuid &&
            (url.searchParams.get('suppressed') === 'true' || !(analysis as { isSuppressed?: boolean } | undefined)?.isSuppressed),
        );
        if (shifts && shown[0] === findings[0]) findings.push(...findings.splice(0, 1).map((gone) => ({ ...gone, matrix: `${uuid}:new` })));
        return listed(url, shown, true);
      };
    },
  };
}

export const dependencyTrackFake: FakeVendor = dependencyTrackVendor(true);
