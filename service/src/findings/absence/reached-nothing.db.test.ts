import type { AssetType } from '@rrs/scan-reports';
import { expect, it } from 'vitest';
import { useImports } from '../../testing/findings/imports.ts';

/** Scans that reached nothing, of tools that list what they reached. The scope of the upload names what they were started for. */
const engine = useImports();
const at = (day: number): Date => new Date(Date.UTC(2026, 0, day, 12));
const seconds = (day: number): number => at(day).getTime() / 1000;
const HOST = 'web1.example.com';
const NAMES: Partial<Record<AssetType, string>> = {
  host: HOST,
  repository: 'https://git.example.com/shop',
  container_image: 'registry.example.com/shop:1.0.0',
};
const SITE = 'https://shop.example.com';

const nmap = (day: number, hosts: string, up: number) => `<nmaprun scanner="nmap" start="${seconds(day)}" version="7.94" args="nmap -sV">
  <scaninfo type="syn" protocol="tcp" services="1-1024"/>${hosts}<runstats><finished time="${seconds(day)}" exit="success"/><hosts up="${up}" down="${1 - up}" total="1"/></runstats></nmaprun>`;
const nmapHost = (state: string, ports: string, day: number) => `<host starttime="${seconds(day)}" endtime="${seconds(day)}"><status state="${state}"/>
  <address addr="192.0.2.1" addrtype="ipv4"/><hostnames><hostname name="${HOST}" type="user"/></hostnames>${ports}</host>`;
const port = '<ports><port protocol="tcp" portid="23"><state state="open"/><service name="telnet"/></port></ports>';

const nessus = (hosts: string) => `<NessusClientData_v2><Report name="weekly">${hosts}</Report></NessusClientData_v2>`;
const nessusHost = (items: string, day: number) => `<ReportHost name="${HOST}"><HostProperties>
  <tag name="HOST_START">${at(day).toUTCString()}</tag><tag name="HOST_END">${at(day).toUTCString()}</tag></HostProperties>${items}</ReportHost>`;
const item = '<ReportItem port="443" protocol="tcp" severity="3" pluginID="50001" pluginName="A"><risk_factor>High</risk_factor></ReportItem>';

const openvas = (hosts: string, results: string, day: number) => `<report id="1" format_id="2"><scan_run_status>Done</scan_run_status>
  <scan_start>${at(day).toISOString()}</scan_start><scan_end>${at(day).toISOString()}</scan_end>${hosts}<results>${results}</results></report>`;
const openvasHost = `<host><ip>192.0.2.1</ip><detail><name>hostname</name><value>${HOST}</value></detail></host>`;
const result = `<result><name>A</name><host>192.0.2.1<hostname>${HOST}</hostname></host><port>443/tcp</port><nvt oid="1.2.3"><name>A</name></nvt><threat>High</threat><severity>8.0</severity></result>`;

const nexpose = (
  nodes: string,
  day: number,
) => `<NexposeReport version="2.0"><scans><scan id="1" startTime="2026010${day}T120000000" endTime="2026010${day}T120000000" status="finished"/></scans>
  <nodes>${nodes}</nodes><VulnerabilityDefinitions><vulnerability id="a" title="A" severity="8" cvssScore="8.0"/></VulnerabilityDefinitions></NexposeReport>`;
const node = (status: string, tests: string) => `<node address="192.0.2.1" status="${status}"><names><name>${HOST}</name></names>${tests}</node>`;
const test = '<tests><test id="a" scan-id="1" status="vulnerable-exploited"/></tests>';

const alert = {
  pluginid: '1',
  alert: 'A',
  name: 'A',
  riskcode: '3',
  confidence: '2',
  riskdesc: 'High',
  count: '1',
  instances: [{ uri: `${SITE}/a`, method: 'GET' }],
};
const zap = (site: object[], day: number) => JSON.stringify({ '@programName': 'ZAP', '@version': '2.15', '@generated': at(day).toUTCString(), site });
const zapSite = (alerts: object[]) => ({ '@name': SITE, '@host': 'shop.example.com', '@port': '443', '@ssl': 'true', alerts });

const dependencyCheck = (day: number, ...files: string[]) =>
  JSON.stringify({
    reportSchema: '1.1',
    scanInfo: { engineVersion: '12.1.0' },
    projectInfo: { name: 'shop', reportDate: at(day).toISOString() },
    dependencies: files.map((fileName) => ({
      fileName,
      packages: [{ id: `pkg:maven/org.example/a@${fileName.startsWith('old') ? 1 : 2}` }],
      ...(fileName.startsWith('old') && { vulnerabilities: [{ name: 'CVE-2021-1' }] }),
    })),
  });
const burpRest = (locations: number, requests: number, issues: object[]) =>
  JSON.stringify({
    task_id: '5',
    scan_status: 'succeeded',
    scan_metrics: { crawl_unique_locations_visited: locations, audit_requests_made: requests, issue_events: issues.length },
    issue_events: issues.map((issue) => ({ type: 'issue_found', issue })),
  });
const issue = { name: 'SQL injection', type_index: 1049088, origin: SITE, path: '/item', severity: 'high' };
const dastardly = (suites: string) => `<testsuites name="Dastardly scan results">${suites}</testsuites>`;
const suite = (testcase: string) => `<testsuite name="${SITE}/">${testcase}</testsuite>`;
const failure = `<testcase name="XSS"><failure type="High" message="XSS found at ${SITE}/a">Host: ${SITE}</failure></testcase>`;
const dast = (day: number, resources: string[], vulnerabilities: object[] = []) =>
  JSON.stringify({
    version: '15.0.7',
    vulnerabilities,
    scan: {
      type: 'dast',
      status: 'success',
      scanner: { id: 'zaproxy', name: 'ZAP' },
      start_time: at(day).toISOString().slice(0, 19),
      end_time: at(day).toISOString().slice(0, 19),
      scanned_resources: resources.map((url) => ({ method: 'GET', type: 'url', url })),
    },
  });
const vulnerability = {
  id: 'a',
  category: 'dast',
  name: 'XSS',
  severity: 'High',
  identifiers: [{ type: 'p', name: 'XSS', value: '1' }],
  location: { hostname: SITE, path: '/a' },
};
const IMAGE = 'registry.example.com/shop:1.0.0';
const klar = (LayerCount: number, Vulnerabilities: object) => JSON.stringify({ LayerCount, Vulnerabilities });
const klarFound = { High: [{ Name: 'CVE-2021-1', FeatureName: 'zlib', FeatureVersion: '1.2' }] };
const feature = { Name: 'zlib', Version: '1.2' };
const layer = (...Features: object[]) => JSON.stringify({ Layer: { Name: IMAGE, IndexedByVersion: 3, Features } });
const clair = (build: string, packages: object, affected: object = {}) =>
  JSON.stringify({
    manifest_hash: `sha256:${build.repeat(64)}`,
    packages,
    vulnerabilities: Object.keys(affected).length > 0 ? { 7: { id: '7', name: 'CVE-2021-1', normalized_severity: 'High' } } : {},
    package_vulnerabilities: affected,
  });

/** What is left of the findings of a first report after a second one, both sent with the asset that they are about. */
async function statusAfter(format: string, reports: readonly string[], type: AssetType, scopeType = type) {
  const org = await engine.organization();
  const imports: unknown[] = [];
  for (const [n, text] of reports.entries()) {
    const scope = { coverage: 'complete', started_at: at(2 + 7 * n).toISOString(), asset: { type: scopeType, name: NAMES[type] ?? SITE } } as const;
    const { notes, status, error } = await engine.runFile(org, { format, name: 'report', bytes: Buffer.from(text) }, scope);
    expect({ status, error }).toEqual({ status: 'succeeded', error: null });
    imports.push(notes);
  }
  const states = (await engine.findings(org)).map(({ status }) => status);
  expect(states).toHaveLength(1);
  return { status: states[0], notes: imports.at(-1) };
}

it.each<[string, string, AssetType, string, string, string]>([
  ['Nmap', 'nmap', 'host', nmap(1, nmapHost('up', port, 1), 1), nmap(8, '', 0), nmap(8, nmapHost('up', '<ports/>', 8), 1)],
  [
    'Nmap with a host that is down',
    'nmap',
    'host',
    nmap(1, nmapHost('up', port, 1), 1),
    nmap(8, nmapHost('down', '', 8), 0),
    nmap(8, nmapHost('up', '<ports/>', 8), 1),
  ],
  ['Nessus', 'nessus', 'host', nessus(nessusHost(item, 2)), nessus(''), nessus(nessusHost('', 9))],
  ['OpenVAS', 'openvas', 'host', openvas(openvasHost, result, 2), openvas('', '', 9), openvas(openvasHost, '', 9)],
  ['Nexpose', 'nexpose', 'host', nexpose(node('alive', test), 1), nexpose(node('dead', ''), 8), nexpose(node('alive', ''), 8)],
  ['ZAP', 'zap', 'web_application', zap([zapSite([alert])], 1), zap([], 8), zap([zapSite([])], 8)],
])('%s closes nothing if it reached nothing, and does if it reached the asset', async (_, format, type, found, nothing, clean) => {
  const name = type === 'host' ? HOST : SITE;
  expect(await statusAfter(format, [found, nothing], type)).toMatchObject({
    status: 'open',
    notes: expect.arrayContaining([`The report does not list the ${type} "${name}", so it says nothing about it, although \`scan_scope\` names it.`]),
  });
  expect(await statusAfter(format, [found, nothing], type, 'other')).toMatchObject({ status: 'open' });
  expect(await statusAfter(format, [found, clean], type)).toMatchObject({ status: 'verified' });
});

it.each<[string, string, AssetType, string, string, string]>([
  ['Dependency-Check', 'dependency_check', 'repository', dependencyCheck(2, 'old.jar', 'a.jar'), dependencyCheck(9), dependencyCheck(9, 'a.jar')],
  ['the REST API of Burp Suite', 'burp', 'web_application', burpRest(52, 900, [issue]), burpRest(0, 0, []), burpRest(52, 900, [])],
  ['Dastardly', 'burp', 'web_application', dastardly(suite(failure)), dastardly(''), dastardly(suite('<testcase name="No issues were identified"/>'))],
  ['GitLab DAST', 'gitlab', 'web_application', dast(2, [`${SITE}/a`], [vulnerability]), dast(9, []), dast(9, [`${SITE}/a`])],
  ['klar', 'clair', 'container_image', klar(9, klarFound), klar(0, {}), klar(9, {})],
  [
    'Clair 2',
    'clair',
    'container_image',
    layer({ ...feature, Vulnerabilities: [{ Name: 'CVE-2021-1', Severity: 'High' }] }),
    layer(),
    layer({ ...feature, Version: '1.3' }),
  ],
  [
    'Clair 4',
    'clair',
    'container_image',
    clair('a', { 1: { name: 'zlib', version: '1.2' } }, { 1: ['7'] }),
    clair('b', {}),
    clair('b', { 1: { name: 'zlib', version: '1.3' } }),
  ],
])('%s closes nothing if it looked at nothing, and does if it looked at the asset', async (_, format, type, found, nothing, clean) => {
  expect(await statusAfter(format, [found, nothing], type)).toMatchObject({ status: 'open' });
  expect(await statusAfter(format, [found, clean], type)).toMatchObject({ status: 'verified' });
});
