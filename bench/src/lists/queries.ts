type Query = Record<string, string>;

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

/** Every documented filter at least once, with values that match most, few or no findings. */
const FILTERS: readonly Query[] = [
  { severity: 'critical' },
  { severity: 'info,unknown' },
  { status: 'open' },
  { status: 'withdrawn' },
  { source: 'nessus' },
  { source: 'no-such-source' },
  { asset: 'asset-12' },
  { asset: 'asset-' },
  { asset: 'no-such-asset' },
  { asset_type: 'cloud_resource' },
  { asset_type: 'package' },
  { cve: 'CVE-2024-10007' },
  { cve: 'CVE-1999-0001' },
  { cwe: '79' },
  { component: 'curl-1' },
  { has_work_item: 'true' },
  { has_work_item: 'false' },
  { kev: 'true' },
  { suppressed: 'true' },
  { kev: 'false' },
  { epss_min: '0.9' },
  { epss_min: '0.1' },
  { risk_min: '99' },
  { risk_min: '50' },
  { overdue: 'true' },
  { overdue: 'false' },
  { assurance: 'declared' },
  { assurance: 'scan_only,independent' },
  { tag: 'team-0' },
  { tag: 'no-such-team' },
  { q: 'overflow' },
  { q: 'openssl-12' },
  { q: 'overflow cve-2024-10007' },
  { first_seen_from: daysAgo(3) },
  { first_seen_to: daysAgo(699) },
  { last_seen_from: daysAgo(3) },
  { created_from: daysAgo(300), created_to: daysAgo(299) },
  { updated_from: daysAgo(2) },
  { due_to: daysAgo(600) },
  { due_from: daysAgo(-10), due_to: daysAgo(-15) },
  { not_severity: 'critical,high,medium' },
  { not_status: 'open,verified' },
  { not_source: 'trivy' },
  { source_kind: 'import' },
  { source_kind: 'connection,manual' },
  { not_asset_type: 'host,container_image,repository' },
  { not_tag: 'team-0' },
  { not_cve: 'CVE-2024-10007' },
  { not_component: 'curl-1' },
  { track: 'no-such-branch' },
  { owner: 'team-7' },
  { criticality: 'high' },
  { exposure: 'internet' },
  { asset_tag: 'pci' },
  { not_asset_tag: 'pci' },
  { import_id: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11' },
  { path: 'src/module-7' },
  { not_path: 'src/module-7' },
  { rule: 'RULE-7' },
  { not_rule: 'RULE-7' },
  { has_fix: 'true' },
  { has_fix: 'false' },
  { severity_disputed: 'true' },
  { q: 'openss' },
  { q: 'openssl-12 1.2.3' },
  { q: 'CWE-79 src/mod' },
];

const SORTS = ['-risk_score', '-severity', 'severity', '-first_seen', 'first_seen', '-last_seen', '-created_at', '-updated_at', 'due_at', '-due_at'] as const;

/** Every filter in every order. */
export function oneFilter(): string[] {
  return FILTERS.flatMap((filter) => SORTS.map((sort) => new URLSearchParams({ ...filter, sort }).toString()));
}

/** Every pair of filters, each in one of the orders. */
export function twoFilters(): string[] {
  return FILTERS.flatMap((one, n) =>
    FILTERS.slice(n + 1).flatMap((other, m) =>
      Object.keys(one).some((key) => key in other) ? [] : [new URLSearchParams({ ...one, ...other, sort: SORTS[(n + m) % SORTS.length] ?? '' }).toString()],
    ),
  );
}

export function sample<T>(all: readonly T[], every: number): T[] {
  return all.filter((_, n) => n % every === 0);
}
