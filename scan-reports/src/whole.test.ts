import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formats } from './registry.ts';
import { fromBuffer } from './shared/input.ts';

const fixture = (path: string): string => readFileSync(join(import.meta.dirname, 'formats', path), 'utf8');
const changed = (path: string, change: (report: Record<string, unknown>) => object): string => {
  const report = JSON.parse(fixture(path));
  return JSON.stringify({ ...report, ...change(report) });
};

const isWhole = async (id: string, text: string): Promise<boolean> => {
  const about = await formats.find((format) => format.id === id)?.about?.(fromBuffer(text));
  return about?.finished ?? true;
};

const alerts = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, n) => ({ number: n, security_advisory: {}, dependency: {} })));
const graphql = (hasNextPage: boolean): object => ({ data: { repository: { vulnerabilityAlerts: { pageInfo: { hasNextPage }, nodes: [] } } } });
const burpScan = (issue_counts: object, issues: number, id = '7'): string =>
  JSON.stringify({
    data: { scan: { id, status: 'succeeded', issue_counts, issues: Array(issues).fill({ issue_type: { name: 'A' }, origin: 'https://a.example.com' }) } },
  });
const alertsOf = (name: string | undefined, totalCount: number, listed: number, pageInfo: object = {}): object => ({
  ...(name ? { url: `https://github.com/acme/${name}` } : {}),
  vulnerabilityAlerts: { totalCount, pageInfo, nodes: Array(listed).fill({ securityVulnerability: { package: { name: 'lib' }, advisory: { summary: 'A' } } }) },
});
const search = (nodes: object[], hasNextPage = false): object => ({ data: { search: { nodes, pageInfo: { hasNextPage } } } });
const lines = (...documents: object[]): string => documents.map((document) => JSON.stringify(document)).join('\n');
const hub = 'aws_security_hub/fixtures/get-findings.json';
const inspector = 'aws_inspector2/fixtures/findings.json';
const issues = 'sonarqube/fixtures/api-issues.json';
const sonar = (list: string, found: number, paging: object): object => ({ paging, [list]: Array.from({ length: found }, (_, n) => ({ key: `${list} ${n}` })) });
const snykLinks = (links: object): string => changed('snyk/fixtures/issues-api.json', () => ({ links })).replace('{', '{\n');
const snykIssues = '/rest/orgs/1/issues?version=2024-10-15';
const detections = fixture('qualys/fixtures/detections.xml');
const asked = (key: string): string =>
  detections.replace('<RESPONSE>', `<REQUEST><PARAM_LIST><PARAM><KEY>${key}</KEY><VALUE>5</VALUE></PARAM></PARAM_LIST></REQUEST><RESPONSE>`);
const warning = '<WARNING><CODE>1980</CODE><TEXT>1000 record limit exceeded.</TEXT><URL>https://example.com/?id_min=5</URL></WARNING>';
const openvas = fixture('openvas/fixtures/report.xml');
const counted = (count: number): string =>
  openvas.replace('<ports>', `<result_count>${count}<full>900</full><filtered>${count}</filtered></result_count><ports>`);

describe('a file that lacks results of its scan does not pass for the whole scan', () => {
  it.each([
    ['aws_security_hub', 'with a next page', changed(hub, () => ({ NextToken: 'x' })), changed(hub, () => ({ NextToken: null }))],
    [
      'aws_security_hub',
      'without the last page',
      `${changed(hub, () => ({}))}\n${changed(hub, () => ({ NextToken: 'x' }))}`,
      `${changed(hub, () => ({ NextToken: 'x' }))}\n${changed(hub, () => ({}))}`,
    ],
    ['aws_inspector2', 'with a next page', changed(inspector, () => ({ nextToken: 'x' })), fixture(inspector)],
    [
      'snyk',
      'with a next page',
      changed('snyk/fixtures/issues-api.json', () => ({ links: { next: '/rest/issues?starting_after=x' } })),
      fixture('snyk/fixtures/issues-api.json'),
    ],
    ['snyk', 'with a page before', snykLinks({ prev: `${snykIssues}&ending_before=v1.x` }), snykLinks({ prev: `${snykIssues}&ending_before=` })],
    ['snyk', 'with a link to the page before', snykLinks({ prev: { href: '/rest/x' } }), snykLinks({ first: { href: '/rest/x' } })],
    [
      'snyk',
      'that was asked for with a cursor',
      snykLinks({ self: `${snykIssues}&starting_after=v1.x` }),
      snykLinks({ self: `${snykIssues}&starting_after=` }),
    ],
    ['snyk', 'of one type', snykLinks({ self: `${snykIssues}&type=code` }), snykLinks({ self: `${snykIssues}&status=open` })],
    [
      'snyk',
      'without the first page',
      `${snykLinks({ prev: '/rest/x', next: '/rest/y' })}\n${snykLinks({ prev: '/rest/y' })}`,
      `${snykLinks({ next: '/rest/x' })}\n${snykLinks({ prev: '/rest/y' })}`,
    ],
    [
      'sonarqube',
      'without the first page',
      JSON.stringify(sonar('issues', 1, { pageIndex: 2, pageSize: 100 })),
      JSON.stringify([sonar('issues', 2, { pageIndex: 1, pageSize: 2, total: 2 }), sonar('issues', 0, { pageIndex: 2, pageSize: 2, total: 2 })]),
    ],
    [
      'sonarqube',
      'with fewer hotspots than in total, beside issues',
      JSON.stringify([sonar('issues', 3, { pageIndex: 1, total: 3 }), sonar('hotspots', 1, { pageIndex: 1, total: 2 })]),
      JSON.stringify([sonar('issues', 3, { pageIndex: 1, total: 3 }), sonar('hotspots', 2, { pageIndex: 1, total: 2 })]),
    ],
    ['sonarqube', 'with fewer issues than in total', changed(issues, () => ({ total: 6, paging: { pageIndex: 1, pageSize: 5, total: 6 } })), fixture(issues)],
    [
      'sonarqube',
      'of an empty page',
      JSON.stringify({ paging: { pageIndex: 2, pageSize: 100, total: 1 }, hotspots: [] }),
      fixture('sonarqube/fixtures/empty.json'),
    ],
    ['github', 'with a next page', JSON.stringify(graphql(true)), JSON.stringify(graphql(false))],
    ['github', 'without the last page', JSON.stringify([graphql(false), graphql(true)]), JSON.stringify([graphql(true), graphql(false)])],
    ['github', 'as long as a page', alerts(30), alerts(31)],
    ['github', 'as long as the longest page', alerts(100), alerts(99)],
    ['github', 'as long as a page, with an alert in each line', lines(...JSON.parse(alerts(30))), lines(...JSON.parse(alerts(31)))],
    [
      'github',
      'with fewer alerts than in total',
      lines({ data: { repository: alertsOf('shop', 3, 2) } }),
      lines({ data: { repository: alertsOf('shop', 3, 2) } }, { data: { repository: alertsOf('shop', 3, 1) } }),
    ],
    [
      'github',
      'with fewer alerts of one repository than in total',
      lines(search([alertsOf('shop', 1, 1)]), search([alertsOf('site', 5, 4)])),
      lines(search([alertsOf('shop', 1, 1)]), search([alertsOf('site', 4, 4)])),
    ],
    [
      'github',
      'with a next page of a repository that is not the last one',
      JSON.stringify([search([alertsOf('shop', 0, 0, { hasNextPage: true })]), search([alertsOf('site', 0, 0, { hasNextPage: false })])]),
      JSON.stringify([search([alertsOf('shop', 0, 0, { hasNextPage: true })]), search([alertsOf('shop', 0, 0, { hasNextPage: false })])]),
    ],
    [
      'github',
      'with a page before',
      JSON.stringify({ data: { repository: alertsOf(undefined, 0, 0, { hasPreviousPage: true }) } }),
      lines({ data: { repository: alertsOf(undefined, 0, 0) } }, { data: { repository: alertsOf(undefined, 0, 0, { hasPreviousPage: true }) } }),
    ],
    [
      'github',
      'with a next page of repositories',
      lines(search([alertsOf('shop', 0, 0)], true)),
      lines(search([alertsOf('shop', 0, 0)], true), search([alertsOf('site', 0, 0)])),
    ],
    ['burp', 'of a scan that failed', changed('burp/fixtures/rest.json', () => ({ scan_status: 'failed' })), fixture('burp/fixtures/rest.json')],
    [
      'burp',
      'with fewer events than the scan has',
      changed('burp/fixtures/rest.json', () => ({ scan_metrics: { issue_events: 5 } })),
      changed('burp/fixtures/rest.json', () => ({ scan_metrics: { issue_events: 4 } })),
    ],
    ['burp', 'with fewer issues than in total', burpScan({ total: 3 }, 2), burpScan({ total: 2 }, 2)],
    ['burp', 'with fewer issues than of all severities', burpScan({ high: { total: 1 }, low: { total: 2 } }, 2), burpScan({ high: { total: 1 } }, 2)],
    ['burp', 'without the last page', `${burpScan({ total: 3 }, 2)}\n${burpScan({ total: 1 }, 1, '8')}`, `${burpScan({ total: 3 }, 2)}\n${burpScan({}, 1)}`],
    ['qualys', 'with more hosts than the limit', detections.replace('</RESPONSE>', `${warning}</RESPONSE>`), detections],
    ['qualys', 'without the first hosts', asked('id_min'), asked('show_tags')],
    ['openvas', 'with a limited number of rows', counted(100), counted(1)],
  ])('%s %s', async (format, _what, part, whole) => {
    expect(await isWhole(format, part)).toBe(false);
    expect(await isWhole(format, whole)).toBe(true);
  });
});
