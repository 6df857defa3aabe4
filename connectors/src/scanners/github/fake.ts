import type { Json } from '../../core/contract.ts';
import type { FakeApp } from '../../shared/github/fake-app.ts';
import type { FakeRequest, FakeResponse, FakeVendor } from '../../testing/fake-server.ts';

const TOKEN = 'ghp_0123456789abcdefghij';
const repositories = ['shop', 'site', 'tools', 'empty'];
const repository = (name: string) => ({
  id: 100 + repositories.indexOf(name),
  full_name: `acme/${name}`,
  html_url: `https://github.com/acme/${name}`,
});

/** The state of the fake, by repository name. */
export interface GithubState {
  /** Kinds of alerts that are disabled. */
  off?: Readonly<Record<string, readonly ('dependabot' | 'code-scanning' | 'secret-scanning')[]>>;
  archived?: readonly string[];
  /** Repositories that are listed, but whose alerts cannot be read. */
  hidden?: readonly string[];
  /** Whether the repository without alerts was ever analyzed. */
  analyzed?: boolean;
  /** When code scanning last analyzed the repositories. */
  analyzedAt?: string;
  /** Only administrators see which features are enabled. */
  isAdmin?: boolean;
  /** An app that is accepted instead of the token. */
  app?: FakeApp;
}

interface Alert {
  repository: ReturnType<typeof repository>;
  updated_at: string;
  [field: string]: Json;
}

const common = (n: number, page: string) => {
  const { [n % 3]: name = 'shop' } = repositories;
  return {
    number: n,
    html_url: `https://github.com/acme/${name}/security/${page}/${n}`,
    url: `https://api.github.com/repos/acme/${name}/${page}/alerts/${n}`,
    created_at: '2026-09-01T08:00:00Z',
    updated_at: `2026-10-${String(n + 1).padStart(2, '0')}T08:00:00Z`,
    repository: repository(name),
  };
};

const dependabot = (n: number): Alert => ({
  ...common(n, 'dependabot'),
  state: ['open', 'open', 'fixed', 'dismissed', 'auto_dismissed'][n % 5] ?? 'open',
  dependency: { package: { ecosystem: 'npm', name: `lib${n}` }, manifest_path: 'package-lock.json', scope: 'runtime' },
  security_advisory: {
    ghsa_id: `GHSA-2222-3333-${String(2222 + n)}`,
    cve_id: `CVE-2025-${2000 + n}`,
    summary: `Weakness ${n}`,
    description: 'Input is not checked.',
    severity: ['low', 'medium', 'high', 'critical'][n % 4] ?? 'low',
    identifiers: [{ type: 'CVE', value: `CVE-2025-${2000 + n}` }],
    cwes: [{ cwe_id: 'CWE-79', name: 'Cross-site Scripting' }],
    cvss: { vector_string: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', score: 7.5 },
    references: [{ url: `https://nvd.nist.gov/vuln/detail/CVE-2025-${2000 + n}` }],
  },
  security_vulnerability: { severity: 'high', vulnerable_version_range: '< 2.0.0', first_patched_version: { identifier: '2.0.0' } },
  dismissed_reason: n % 5 === 3 ? 'tolerable_risk' : null,
});

const codeScanning = (n: number): Alert => ({
  ...common(n, 'code-scanning'),
  state: ['open', 'fixed', 'dismissed'][n % 3] ?? 'open',
  rule: { id: `js/rule-${n}`, severity: 'error', security_severity_level: 'high', description: `Rule ${n}`, tags: ['security', 'external/cwe/cwe-079'] },
  tool: { name: 'CodeQL', version: '2.20.0' },
  most_recent_instance: { ref: 'refs/heads/main', message: { text: 'Here.' }, location: { path: `src/file${n}.js`, start_line: n + 1, end_line: n + 2 } },
});

const secretScanning = (n: number): Alert => ({
  ...common(n, 'secret-scanning'),
  state: n % 2 === 0 ? 'open' : 'resolved',
  resolution: n % 2 === 0 ? null : 'revoked',
  secret_type: 'acme_api_key',
  secret_type_display_name: 'Acme API Key',
  secret: 'not-to-be-seen-0123456789',
  validity: 'unknown',
  first_location_detected: { path: `config/${n}.env`, start_line: 3, end_line: 3 },
});

const many = (count: number, make: (n: number) => Alert): Alert[] => Array.from({ length: count }, (_, n) => make(n));
const failed = (status: number, message: string): FakeResponse => ({
  status,
  body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
});

const DISABLED = {
  dependabot: () => failed(403, 'Dependabot alerts are disabled for this repository.'),
  'code-scanning': () => failed(403, 'Code scanning is not enabled for this repository. Please enable code scanning in the repository settings.'),
  'secret-scanning': () => failed(404, 'Secret scanning is disabled on this repository.'),
};

/** Alerts of a disabled kind are hidden until the kind is enabled again. */
export const githubWith = ({
  off = {},
  archived = [],
  hidden = [],
  analyzed = false,
  analyzedAt = '2026-11-14T08:00:00Z',
  isAdmin = true,
  app,
}: GithubState = {}): FakeVendor => ({
  id: 'github',
  settings: (origin) => ({ config: { api_url: origin, organization: 'acme' }, credentials: { token: TOKEN } }),
  refused: (origin) => ({ config: { api_url: origin, organization: 'acme' }, credentials: { token: 'ghp_revoked0123456789' } }),
  answer({ pageSize, endless, badRecord }) {
    const alerts: Record<string, Alert[]> = {
      'dependabot/alerts': many(13, dependabot),
      'code-scanning/alerts': many(8, codeScanning),
      'secret-scanning/alerts': many(5, secretScanning),
    };
    const isDisabled = (name: string, path: string): boolean => off[name]?.some((kind) => path.startsWith(kind)) === true;
    const described = (name: string): Json => ({
      ...repository(name),
      archived: archived.includes(name),
      ...(isAdmin ? { security_and_analysis: { secret_scanning: { status: isDisabled(name, 'secret-scanning') ? 'disabled' : 'enabled' } } } : {}),
    });
    if (badRecord) alerts['dependabot/alerts']?.splice(5, 0, { number: 99, repository: repository('shop'), updated_at: '2026-10-05T08:00:00Z' });

    /** Dependabot uses cursors, the others use page numbers. */
    const page = (url: URL, all: readonly Json[]): FakeResponse => {
      const { searchParams } = url;
      const size = Math.min(pageSize, Number(searchParams.get('per_page') ?? 30), 100);
      const byCursor = url.pathname.includes('dependabot');
      const from = byCursor
        ? Number(Buffer.from(searchParams.get('after') ?? '', 'base64').toString() || 0)
        : (Number(searchParams.get('page') ?? 1) - 1) * size;
      const next = new URL(url);
      if (byCursor) next.searchParams.set('after', Buffer.from(String(from + size)).toString('base64'));
      else next.searchParams.set('page', String(from / size + 2));
      const link = endless || from + size < all.length ? { link: `<${url}>; rel="first", <${next}>; rel="next"` } : undefined;
      return { page: url.pathname.endsWith('/alerts'), ...(link ? { headers: link } : {}), body: all.slice(from, from + size) };
    };

    return (request: FakeRequest) => {
      const { url, headers } = request;
      const granted = app?.answer(request);
      if (granted) return granted;
      if (headers.authorization !== `Bearer ${TOKEN}` && !app?.isValid(headers.authorization)) return failed(401, 'Bad credentials');
      if (!headers['user-agent']) return failed(403, 'Request forbidden by administrative rules.');
      if (url.pathname === '/orgs/acme/repos') return page(url, repositories.map(described));
      const [, analyzedName = ''] = /^\/repos\/acme\/(\w+)\/code-scanning\/analyses$/.exec(url.pathname) ?? [];
      if (repositories.includes(analyzedName))
        return {
          body: [
            {
              id: 7,
              ref: 'refs/heads/main',
              commit_sha: 'd6e4c75c141dbacecc279b721b8b9393d5405795',
              created_at: analyzedAt,
              tool: { name: 'CodeQL' },
            },
          ],
        };
      const [, owner, name, path] = /^\/(orgs\/acme|repos\/acme\/(\w+))(?:\/([\w-]+\/alerts))?$/.exec(url.pathname) ?? [];
      if (owner === undefined || (name !== undefined && !repositories.includes(name))) return failed(404, 'Not Found');
      if (path === undefined) return { body: described(name ?? '') };
      if (name !== undefined && hidden.includes(name)) return failed(403, 'Resource not accessible by personal access token');
      if (name !== undefined && isDisabled(name, path)) return DISABLED[path.replace('/alerts', '') as keyof typeof DISABLED]();
      if (name === 'empty' && path.startsWith('code') && !analyzed) return failed(404, 'no analysis found');
      const ours = (alerts[path] ?? []).filter(({ repository: { full_name } }) => {
        const [, of = ''] = full_name.split('/');
        return (name === undefined || of === name) && !isDisabled(of, path);
      });
      if (url.searchParams.get('sort') === 'updated') ours.sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
      const isHidden = url.searchParams.get('hide_secret') === 'true';
      const shown = ours.map(
        ({ repository: of, secret, ...alert }): Json => ({
          ...alert,
          ...(secret === undefined || isHidden ? {} : { secret }),
          ...(name === undefined ? { repository: of } : {}),
        }),
      );
      return page(url, shown);
    };
  },
});

export const githubFake = githubWith();
