import type { AssetType } from '@rrs/scan-reports';
import { expect, it } from 'vitest';
import { useImports } from '../../testing/findings/imports.ts';

/** Exports of one product that list different things. Each is complete, and says nothing about what only the others list. */
const engine = useImports();
const repository = { type: 'repository' as AssetType, name: 'https://git.example.com/shop' };

interface File {
  format: string;
  text: string;
}

const sonar = (list: 'issues' | 'hotspots', ...records: object[]): File => ({
  format: 'sonarqube',
  text: JSON.stringify({ paging: { pageIndex: 1, pageSize: 100, total: records.length }, [list]: records }),
});
const issue = { key: 'A', rule: 'java:S3649', severity: 'BLOCKER', component: 'shop:a.java', line: 3, message: 'SQL', status: 'OPEN', type: 'VULNERABILITY' };
const hotspot = { key: 'H', ruleKey: 'java:S5131', vulnerabilityProbability: 'HIGH', component: 'shop:a.java', line: 9, message: 'XSS', status: 'TO_REVIEW' };

const site = { type: 'web_application' as AssetType, name: 'https://shop.example.com' };
const burpIssue = `<issue><type>1049088</type><name>SQL injection</name><host>${site.name}</host><path>/item</path><severity>High</severity></issue>`;
const burpXml = (issues: string): File => ({ format: 'burp', text: `<issues burpVersion="2025.1">${issues}</issues>` });
const dastardly: File = {
  format: 'burp',
  text: `<testsuites name="Dastardly scan results"><testsuite name="${site.name}:443/"><testcase name="No issues were identified"/></testsuite></testsuites>`,
};
const burpRest: File = {
  format: 'burp',
  text: JSON.stringify({
    scan_status: 'succeeded',
    scan_metrics: { issue_events: 0, crawl_unique_locations_visited: 52, audit_requests_made: 6980 },
    issue_events: [],
  }),
};

const alerts = (...tools: string[]): File => ({
  format: 'github',
  text: JSON.stringify(
    tools.map((name) => ({
      number: 1,
      state: 'open',
      rule: { id: name },
      tool: { name },
      most_recent_instance: { location: { path: 'a.js', start_line: 3 } },
    })),
  ),
});

/** The status of the first finding of the first file after the others, a week apart. */
async function statusAfter(asset: { type: AssetType; name: string }, files: readonly File[]): Promise<string | undefined> {
  const org = await engine.organization();
  for (const [n, { format, text }] of files.entries()) {
    const scope = { coverage: 'complete', started_at: new Date(Date.UTC(2026, 0, 2 + 7 * n)).toISOString(), asset } as const;
    const { status, error } = await engine.runFile(org, { format, name: 'report', bytes: Buffer.from(text) }, scope);
    expect({ status, error }).toEqual({ status: 'succeeded', error: null });
  }
  return (await engine.findings(org))[0]?.status;
}

it.each<[string, typeof repository, File, File, File]>([
  ['hotspots of SonarQube', repository, sonar('issues', issue), sonar('hotspots'), sonar('issues')],
  ['issues of SonarQube', repository, sonar('hotspots', hotspot), sonar('issues'), sonar('hotspots')],
  ['Dastardly', site, burpXml(burpIssue), dastardly, burpXml('')],
  ['the REST API of Burp Suite', site, burpXml(burpIssue), burpRest, burpXml('')],
  ['another tool in GitHub', repository, alerts('CodeQL', 'Semgrep'), alerts('Semgrep'), alerts('Other', 'Semgrep')],
  ['only one tool in GitHub', repository, alerts('CodeQL'), alerts('Semgrep'), alerts('Other', 'Semgrep')],
])('a report of %s closes only what such a report has shown', async (_, asset, found, other, same) => {
  expect(await statusAfter(asset, [found, other])).toBe('open');
  expect(await statusAfter(asset, [found, other, same])).toBe('verified');
});
