import type { Asset } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { useImports } from '../../testing/findings/imports.ts';

/** Complete reports that say themselves that the tool did not look for everything, each in the words of its format. */
const engine = useImports();

const at = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString();
const seconds = (day: number): number => Date.UTC(2026, 0, day) / 1000;

/** Imports reports of the days 1, 8, 15 …. Returns the status of each finding. */
async function statusesAfter(format: string, reports: readonly unknown[], asset: Asset | null = null): Promise<Record<string, string>> {
  const org = await engine.organization();
  for (const [n, report] of reports.entries()) {
    const bytes = Buffer.from(typeof report === 'string' ? report : JSON.stringify(report));
    const scope = { coverage: 'complete' as const, started_at: at(1 + 7 * n), ...(asset ? { asset: { type: asset.type, name: asset.name } } : {}) };
    await engine.runFile(org, { format, name: `${format}.txt`, bytes }, scope);
  }
  return Object.fromEntries((await engine.findings(org)).map(({ title, status }) => [title, status]));
}

describe('Nmap', () => {
  const vulners =
    '<script id="vulners" output="x"><table key="cpe:/a:acme:web:1.0"><table><elem key="id">CVE-2024-0001</elem><elem key="cvss">7.5</elem></table></table></script>';
  const port = (script = '') => `<port protocol="tcp" portid="80"><state state="open"/>${script}</port>`;
  const nmap = (
    day: number,
    args: string,
    ports: string | null,
  ) => `<nmaprun scanner="nmap" args="nmap ${args} 192.0.2.1" start="${seconds(day)}" version="7.95">
    ${ports === null ? '' : '<scaninfo type="syn" protocol="tcp" services="1-1024"/>'}
    <host starttime="${seconds(day)}" endtime="${seconds(day)}"><status state="up"/><address addr="192.0.2.1" addrtype="ipv4"/>${ports === null ? '' : `<ports>${ports}</ports>`}</host>
    <runstats><finished time="${seconds(day)}" exit="success"/></runstats></nmaprun>`;
  const first = nmap(1, '-sV --script vulners', port(vulners));
  const [found, open] = ['CVE-2024-0001 in web 1.0', 'Open port: 80/tcp'];

  it('closes nothing if it looked only for hosts', async () => {
    expect(await statusesAfter('nmap', [first, nmap(8, '-sn', null)])).toEqual({ [found]: 'open', [open]: 'open' });
  });

  it.each([
    ['no script ran', '-sV', 'open'],
    ['another script ran', '-sV --script=http-title', 'open'],
    ['only default scripts ran', '-A', 'open'],
    ['services were not recognized', '--script vulners', 'open'],
    ['low scores were left out', '-sV --script vulners --script-args mincvss=8', 'open'],
    ['the same script ran', '-oX x.xml --script=vulners -sV', 'verified'],
    ['the same script ran as well as others', '-A --script vulners', 'verified'],
  ])('closes no finding of a script if %s', async (_, args, status) => {
    expect(await statusesAfter('nmap', [first, nmap(8, args, port())])).toEqual({ [found]: status, [open]: 'open' });
  });

  const udp = (state: string) => `<port protocol="udp" portid="161"><state state="${state}"/></port>`;
  const both = (day: number, ports: string) => nmap(day, '-sS -sU', ports).replace('<host ', '<scaninfo type="udp" protocol="udp" services="100-200"/><host ');
  it.each([
    ['it cannot tell whether it is open', udp('open|filtered'), 'open'],
    [
      'it is among those of which it cannot tell',
      '<extraports state="open|filtered" count="2"><extrareasons proto="udp" ports="110,160-170"/></extraports>',
      'open',
    ],
    ['it can be among those of which it cannot tell', '<extraports state="open|filtered" count="101"/>', 'open'],
    [
      'others are those of which it cannot tell',
      '<extraports state="open|filtered" count="2"><extrareasons proto="udp" ports="110,162-170"/></extraports>',
      'verified',
    ],
    ['it is closed', udp('closed'), 'verified'],
  ])('closes a port or leaves it open if %s', async (_, ports, status) => {
    const reports = [both(1, port() + udp('open')), both(8, ports)];
    expect(await statusesAfter('nmap', reports)).toEqual({ [open]: 'verified', 'Open port: 161/udp': status });
  });
});

describe('Clair', () => {
  const image: Asset = { type: 'container_image', name: 'shop:prod' };
  const report = (more: object) => ({ manifest_hash: `sha256:${'a'.repeat(64)}`, packages: { 1: { id: '1', name: 'ssl', version: '1' } }, ...more });
  const found = { vulnerabilities: { 7: { id: '7', name: 'CVE-2024-0001', normalized_severity: 'High' } }, package_vulnerabilities: { 1: ['7'] } };

  it('closes nothing by an index of packages, which has no vulnerabilities', async () => {
    const index = { state: 'IndexFinished', success: true, err: '' };
    expect(await statusesAfter('clair', [report(found), report(index)], image)).toEqual({ 'CVE-2024-0001 in ssl': 'open' });
  });
});

describe('Nexpose', () => {
  const moment = (day: number) => `${at(day).slice(0, 19).replaceAll(/[-:]/g, '')}000`;
  const nexpose = (day: number, tests: readonly [id: string, status: string][]) => `<NexposeReport version="2.0">
    <scans><scan id="${day}" name="x" startTime="${moment(day)}" endTime="${moment(day)}" status="finished"/></scans>
    <nodes><node address="192.0.2.1" status="alive"><tests>${tests.map(([id, status]) => `<test id="${id}" status="${status}" scan-id="${day}"/>`).join('')}</tests></node></nodes>
    </NexposeReport>`;
  const first = nexpose(1, [
    ['a', 'vulnerable-exploited'],
    ['b', 'vulnerable-version'],
  ]);

  it.each([
    ['had an error', 'error', 'open'],
    ['had no clear result', 'unknown', 'open'],
    ['was skipped because it could do harm', 'skipped-dos', 'open'],
    ['was disabled', 'skipped-disabled', 'open'],
    ['was not needed for this version', 'skipped-version', 'verified'],
    ['found nothing', 'not-vulnerable', 'verified'],
  ])('closes nothing of a test that %s', async (_, result, status) => {
    const second = nexpose(8, [
      ['a', 'vulnerable-exploited'],
      ['b', result],
    ]);
    expect(await statusesAfter('nexpose', [first, second])).toEqual({ a: 'open', b: status });
  });
});

describe('Trivy Operator', () => {
  const workloads = Array.from({ length: 12 }, (_, n) => n);
  const cluster = (day: number, found: (workload: number) => [id: number, severity: string][]) => ({
    items: workloads.map((n) => ({
      apiVersion: 'aquasecurity.github.io/v1alpha1',
      kind: 'VulnerabilityReport',
      metadata: { name: `w${n}`, namespace: 'shop', labels: { 'trivy-operator.resource.kind': 'Job', 'trivy-operator.resource.name': `w${n}` } },
      report: {
        updateTimestamp: at(day),
        artifact: { repository: `shop/w${n}`, tag: '1', digest: `sha256:${day}${n}` },
        vulnerabilities: found(n).map(([id, severity]) => ({
          vulnerabilityID: `CVE-2024-${1000 + id}`,
          resource: `lib${id}`,
          installedVersion: '1',
          severity,
          title: severity,
        })),
      },
    })),
  });
  const stays = (n: number): [number, string] => [100 + n, 'HIGH'];

  it.each([
    ['the reports of all workloads have none of a lower severity any more', (n: number) => n, (n: number) => [stays(n)], 'open'],
    ['another workload has one of the same severity', (n: number) => n, (n: number) => (n === 0 ? [stays(n), [200, 'LOW']] : [stays(n)]), 'verified'],
    ['it was the same vulnerability everywhere', () => 1, (n: number) => [stays(n)], 'verified'],
  ] as const)('closes nothing of a severity that the operator may not look for any more, in every order: %s', async (_, low, later, status) => {
    const reports = [cluster(1, (n) => [stays(n), [low(n), 'LOW']]), cluster(8, (n) => [...later(n)] as [number, string][])];
    for (const order of [reports, reports.toReversed()]) {
      const org = await engine.organization();
      for (const report of order)
        await engine.runFile(org, { format: 'trivy_operator', name: 'x.json', bytes: Buffer.from(JSON.stringify(report)) }, { coverage: 'complete' });
      const ofFirst = (await engine.findings(org)).filter(({ title, location }) => title === 'LOW' && location.component !== 'lib200');
      expect(ofFirst.map((finding) => finding.status)).toEqual(workloads.map(() => status));
    }
  });
});

describe('Burp Suite', () => {
  const site: Asset = { type: 'web_application', name: 'https://shop.example.com' };
  const issue = (name: string, n: number) => ({ issue_type: { type_index: `${n}`, name }, origin: site.name, path: '/', severity: 'high' });
  const scan = (status: string, ...issues: object[]) => ({ data: { scan: { id: '1', status, issues } } });

  it.each([
    ['failed', 'open'],
    ['cancelled', 'open'],
    ['running', 'open'],
    ['succeeded', 'verified'],
  ])('closes nothing by a scan from the GraphQL API that has not succeeded: %s', async (end, status) => {
    const reports = [scan('succeeded', issue('A', 1), issue('B', 2)), scan(end, issue('A', 1))];
    expect(await statusesAfter('burp', reports, site)).toEqual({ A: 'open', B: status });
  });

  it.each([
    [2, 'open'],
    [1, 'verified'],
  ])('closes nothing by a list that has fewer issues than the scan: %s', async (total, status) => {
    const counting = (issue_counts: object) => ({ data: { scan: { id: '1', status: 'succeeded', issue_counts, issues: [issue('A', 1)] } } });
    const reports = [scan('succeeded', issue('A', 1), issue('B', 2)), counting({ total })];
    expect(await statusesAfter('burp', reports, site)).toEqual({ A: 'open', B: status });
  });
});

describe('Qualys', () => {
  const scan = (day: number, login: string, ...titles: string[]) => `<SCAN value="scan/1"><HEADER>
    <KEY value="DATE">${at(day)}</KEY><KEY value="OPTIONS"><![CDATA[Full TCP scan, Windows Authentication ${login}, Unix Authentication ${login}]]></KEY><KEY value="STATUS">FINISHED</KEY></HEADER>
    <IP value="192.0.2.5" name="web.example.com"><VULNS><CAT value="Local">
      ${titles.map((title) => `<VULN number="${title.charCodeAt(0)}" severity="4"><TITLE>${title}</TITLE></VULN>`).join('')}</CAT></VULNS></IP></SCAN>`;

  it.each([
    ['that did not log in, and the one before did', 'ON', 'OFF', 'open'],
    ['that logged in', 'ON', 'ON', 'verified'],
    ['that did not log in, like the one before', 'OFF', 'OFF', 'verified'],
  ])('closes what is missing only if it can: a scan %s', async (_, before, now, status) => {
    expect(await statusesAfter('qualys', [scan(1, before, 'A', 'B'), scan(8, now, 'A')])).toEqual({ A: 'open', B: status });
  });
});
