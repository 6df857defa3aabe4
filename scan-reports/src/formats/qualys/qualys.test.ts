import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { qualys } from './index.ts';

const read = (name: string) => readAll(qualys, fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name));

const SRV80 = {
  type: 'host',
  name: 'srv80.example.com',
  identifiers: [
    { kind: 'fqdn', value: 'srv80.example.com' },
    { kind: 'netbios', value: 'srv80' },
    { kind: 'ip', value: '192.0.2.80' },
    { kind: 'agent_id', value: '19260abb-0000-4000-8000-000000000080' },
  ],
};

test('asset data report: reads findings with the glossary entry of their QID', async () => {
  const { observations, rejections } = await read('asset-report.xml');
  expect(rejections).toEqual([{ place: 'HOST_LIST[1]/HOST[2]/VULN_INFO_LIST[1]/VULN_INFO[2]', reason: 'QID is missing' }]);
  expect(observations).toHaveLength(3);
  expect(observations[0]).toEqual({
    place: 'HOST_LIST[1]/HOST[1]/VULN_INFO_LIST[1]/VULN_INFO[1]',
    tool: 'qualys',
    rule: '38863',
    external_id: null,
    title: 'Weak TLS cipher',
    description: 'RC4 is accepted.\nIt is broken.\n\nData may be read.\n\nCipher\tStrength\nRC4\tweak',
    solution: 'Disable RC4.',
    severity: 'high',
    tool_severity: '4',
    vulnerability_ids: ['CVE-2013-2566', 'CVE-2015-2808'],
    cwes: [],
    cvss: [
      { vector: 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:N/A:N', score: 5.9 },
      { vector: 'AV:N/AC:L/Au:N/C:P/I:N/A:N', score: 5 },
    ],
    references: ['https://vendor.example.org/ex-1'],
    asset: SRV80,
    location: { port: 443, protocol: 'tcp' },
    present: true,
    suppressed: false,
    first_seen: new Date('2025-12-01T08:00:00Z'),
    last_seen: new Date('2026-02-01T08:00:00Z'),
    tags: ['General remote services'],
  });
  expect(observations[1]).toMatchObject({ rule: '6', title: 'DNS Host Name', severity: 'info', tool_severity: '3', solution: null, asset: SRV80 });
  expect(observations[2]).toMatchObject({
    severity: 'high',
    asset: { name: '192.0.2.81' },
    present: false,
    suppressed: true,
    tags: ['General remote services', 'potential'],
  });
});

test('scan result: reads the confirmed vulnerabilities of each address', async () => {
  const { observations, rejections } = await read('scan.xml');
  expect(rejections).toEqual([{ place: 'IP[1]/VULNS[1]/CAT[1]/VULN[2]', reason: 'the QID number is missing' }]);
  expect(observations).toMatchObject([
    {
      place: 'IP[1]/VULNS[1]/CAT[1]/VULN[1]',
      rule: '86476',
      title: 'Log4Shell',
      description: 'Lookups run code.\n\n2.14.1 found',
      solution: 'Upgrade.',
      severity: 'critical',
      vulnerability_ids: ['CVE-2021-44228', 'CVE-2021-45046'],
      references: ['https://vendor.example.org/ex-2'],
      asset: { type: 'host', name: '192.0.2.82', identifiers: [{ kind: 'ip', value: '192.0.2.82' }] },
      location: { port: 8080, protocol: 'tcp' },
      last_seen: new Date('2026-02-01T10:00:00Z'),
      tags: ['Web server'],
    },
    { place: 'IP[2]/VULNS[1]/CAT[1]/VULN[1]', rule: '11', severity: 'low', asset: { name: 'host83.example.com' }, location: {} },
  ]);
});

test('web application report: reads vulnerabilities and gathered information', async () => {
  const { observations, rejections } = await read('was.xml');
  expect(rejections).toEqual([{ place: 'RESULTS[1]/INFORMATION_GATHERED_LIST[1]/INFORMATION_GATHERED[2]', reason: 'QID is missing' }]);
  expect(observations).toMatchObject([
    {
      rule: '150085',
      external_id: '20f4ba90-0000-4000-8000-000000000001',
      title: 'Slow HTTP POST',
      description: 'Connections are kept open.\n\nNo service.',
      solution: 'Limit them.',
      severity: 'medium',
      cwes: [772],
      asset: { type: 'web_application', name: 'https://services.example.com' },
      location: { url: 'https://services.example.com/slow', parameter: 'post_param', method: 'POST' },
      suppressed: true,
      last_seen: new Date('2026-03-12T20:42:00Z'),
      tags: ['Potential Vulnerability', 'potential'],
    },
    { rule: '150001', severity: 'critical', cwes: [79], present: false, suppressed: false },
    { rule: '150009', severity: 'info', asset: { name: 'https://services.example.com' }, location: {} },
  ]);
});

test('host detections: reads the ids of findings', async () => {
  const { observations, rejections } = await read('detections.xml');
  expect(rejections).toEqual([{ place: 'RESPONSE[1]/HOST_LIST[1]/HOST[1]/DETECTION_LIST[1]/DETECTION[4]', reason: 'QID is missing' }]);
  expect(observations).toMatchObject([
    {
      rule: '101',
      external_id: '11111111',
      title: 'QID 101: CVE-2023-48161, CVE-2024-21208',
      severity: 'medium',
      vulnerability_ids: ['CVE-2023-48161', 'CVE-2024-21208'],
      asset: {
        name: 'srv84.example.com',
        identifiers: [
          { kind: 'fqdn', value: 'srv84.example.com' },
          { kind: 'ip', value: '192.0.2.84' },
          { kind: 'agent_id', value: '19260abb-0000-4000-8000-000000000084' },
          { kind: 'cloud_id', value: 'i-0115' },
        ],
      },
      location: { port: 443, protocol: 'tcp' },
      present: true,
      suppressed: false,
      first_seen: new Date('2026-01-01T00:00:00Z'),
      last_seen: new Date('2026-02-01T00:00:00Z'),
    },
    { rule: '102', severity: 'critical', present: false, suppressed: true, tags: ['potential'] },
    { rule: '45017', severity: 'info' },
  ]);
});

test('CSV report: finds the header below other lines and skips hosts without findings', async () => {
  const { observations, rejections } = await read('report.csv');
  expect(rejections).toEqual([{ place: 'line 12', reason: 'QID is missing' }]);
  expect(observations).toMatchObject([
    {
      place: 'line 8',
      rule: '38863',
      title: 'Weak TLS cipher',
      description: 'RC4 is accepted.\nIt is broken.\n\nData may be read.\n\nRC4 weak',
      solution: 'Disable RC4.',
      severity: 'high',
      vulnerability_ids: ['CVE-2013-2566', 'CVE-2015-2808'],
      cvss: [
        { vector: 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:N/A:N', score: 5.9 },
        { vector: 'AV:N/AC:L/Au:N/C:P/I:N/A:N', score: 5 },
      ],
      asset: { name: 'srv85.example.com' },
      location: { port: 443, protocol: 'tcp' },
      present: true,
      first_seen: new Date('2025-12-01T08:00:00Z'),
      last_seen: new Date('2026-02-01T08:00:00Z'),
    },
    { place: 'line 11', asset: { name: '192.0.2.87' }, present: false, suppressed: true, tags: ['potential'] },
  ]);
});

test('VMDR list: reads lists by QID and by CVE', async () => {
  const { observations } = await read('vmdr-qid.csv');
  expect(observations).toMatchObject([
    {
      rule: '100003',
      severity: 'medium',
      asset: {
        name: 'appserver',
        identifiers: [
          { kind: 'hostname', value: 'appserver' },
          { kind: 'ip', value: '192.0.2.20' },
          { kind: 'ip', value: '192.0.2.21' },
        ],
      },
      location: {},
      present: false,
      suppressed: true,
      first_seen: new Date('2025-12-01T10:00:00Z'),
      tags: ['Operating System', 'potential'],
      fix_published_date: '2025-11-15',
    },
    {
      rule: '100005',
      severity: 'critical',
      asset: { name: '2001:db8::1' },
      location: { port: 445, protocol: 'tcp' },
      last_seen: new Date('2026-02-03T19:00:00Z'),
    },
  ]);
  expect(observations[1]).not.toHaveProperty('fix_published_date');
  expect((await read('vmdr-cve.csv')).observations).toMatchObject([
    {
      rule: '730143',
      vulnerability_ids: ['CVE-2021-44228'],
      description: 'Log4j2 runs code\n\n2.14.1',
      severity: 'critical',
      asset: { name: 'java.example.com' },
    },
  ]);
});

test('PCI scan: maps the lowest level to low, suppresses approved false positives and drops ambiguous dates', async () => {
  const { observations } = await read('pci.csv');
  expect(observations).toMatchObject([
    {
      rule: '150059',
      severity: 'low',
      asset: { name: 'help.example.com' },
      location: { port: 443, protocol: 'tcp' },
      last_seen: new Date('2026-01-16T04:00:30Z'),
      suppressed: false,
    },
    { rule: '38863', severity: 'medium', vulnerability_ids: ['CVE-2013-2566'], asset: { name: '192.0.2.91' }, last_seen: null, suppressed: true },
  ]);
});

test('accepts reports without findings', async () => {
  expect(await read('empty.xml')).toMatchObject({ observations: [], rejections: [] });
  expect(await read('empty.csv')).toMatchObject({ observations: [], rejections: [] });
});

test.each(['<SCAN><result/></SCAN>', '<SIMPLE_RETURN/>', 'QID,Name\n1,x\n', '[]'])('rejects another file: %s', async (text) => {
  await expect(readAll(qualys, fromBuffer(text))).rejects.toThrow(ReportError);
  await expect(readAll(qualys, fromBuffer(text))).rejects.toThrow(/ASSET_DATA_REPORT/);
});

test.each([
  ['FINISHED', true],
  ['NOVULNSFOUND', true],
  ['CANCELED', false],
  ['ERROR', false],
  ['NOHOSTALIVE', false],
])('a scan with the status %s is finished: %s', async (status, finished) => {
  const text = `<SCAN value="scan/1"><HEADER><KEY value="TITLE">ERROR pages</KEY><KEY value="STATUS">${status}</KEY></HEADER></SCAN>`;
  expect(await qualys.about?.(fromBuffer(text))).toEqual({ tools: null, finished, unread: [] });
});

test.each([
  ['Finished', true],
  ['Time Limit Reached', false],
  ['Canceled', false],
  ['No Host Alive', false],
  ['No Web Service', false],
  ['Service Errors Detected', false],
  ['Scan Internal Error', false],
])('a scan of a web application with the status %s is finished: %s', async (status, finished) => {
  const scans = `<SCAN_LIST><SCAN><STATUS>Finished</STATUS></SCAN><SCAN><STATUS>${status}</STATUS></SCAN></SCAN_LIST>`;
  for (const name of ['WAS_SCAN_REPORT', 'WAS_WEBAPP_REPORT']) {
    expect(await qualys.about?.(fromBuffer(`<${name}><APPENDIX>${scans}</APPENDIX></${name}>`))).toMatchObject({ finished });
  }
});

test('scan result: states time, versions and every address of the scan', async () => {
  const text = `<SCAN value="scan/1"><HEADER><KEY value="DATE">2026-02-01T08:00:00Z</KEY><KEY value="SCAN_HOST">192.0.2.1 (Scanner 12.14.34-1, Vulnerability Signatures 2.5.812-2)</KEY></HEADER>
    <IP value="192.0.2.5" name="No registered hostname"></IP><IP value="192.0.2.6" name="web.example.com"><VULNS></VULNS></IP></SCAN>`;
  expect((await readAll(qualys, fromBuffer(text))).runs).toMatchObject([
    { started_at: new Date('2026-02-01T08:00:00Z') },
    { tool_version: '12.14.34-1', knowledge: '2.5.812-2' },
    { asset: { name: '192.0.2.5' } },
    { asset: { name: 'web.example.com' } },
  ]);
});

test.each([
  [
    'Full TCP scan, Windows Authentication ON, Unix Authentication ON, Oracle Listener Authentication OFF',
    { restrictions: ['Oracle Listener Authentication OFF'] },
  ],
  [
    'Load balancer detection OFF, Windows Authentication OFF, Unix/Cisco IOS Authentication OFF, SNMP Authentication ON',
    { restrictions: ['Windows Authentication OFF', 'Unix/Cisco IOS Authentication OFF'], credentialed: false },
  ],
  ['Windows Authentication ON, Unix Authentication OFF', { restrictions: ['Unix Authentication OFF'] }],
  ['Standard UDP port list', undefined],
])('scan result: states which logins it did not try: %s', async (options, expected) => {
  const text = `<SCAN value="scan/1"><HEADER><KEY value="OPTIONS"><![CDATA[${options}]]></KEY></HEADER></SCAN>`;
  expect((await readAll(qualys, fromBuffer(text))).runs[0]).toEqual(expected);
});

test('asset data report: states time and every host, also without findings', async () => {
  const host = (ip: string) => `<HOST><IP>${ip}</IP></HOST>`;
  const text = `<ASSET_DATA_REPORT><HEADER><GENERATION_DATETIME>2026-02-01T08:00:00Z</GENERATION_DATETIME></HEADER><HOST_LIST>${host('192.0.2.1')}${host('192.0.2.2')}</HOST_LIST></ASSET_DATA_REPORT>`;
  expect((await readAll(qualys, fromBuffer(text))).runs).toMatchObject([
    { finished_at: new Date('2026-02-01T08:00:00Z') },
    { asset: { name: '192.0.2.1' } },
    { asset: { name: '192.0.2.2' } },
  ]);
});

test('asset data report: has not all of a host of which it counts more findings than it lists', async () => {
  const found = '<VULN_INFO_LIST><VULN_INFO><QID>1</QID><TYPE>Vuln</TYPE></VULN_INFO></VULN_INFO_LIST>';
  const runsOf = async (counts: readonly number[], hosts: readonly string[]) => {
    const summary = counts.map((total, n) => `<HOSTS><IP_ADDRESS>192.0.2.${n}</IP_ADDRESS><TOTAL_VULNERABILITIES>${total}</TOTAL_VULNERABILITIES></HOSTS>`);
    const listed = hosts.map((list, n) => `<HOST><IP>192.0.2.${n}</IP>${list}</HOST>`);
    const text = `<ASSET_DATA_REPORT><RISK_SCORE_PER_HOST>${summary.join('')}</RISK_SCORE_PER_HOST><HOST_LIST>${listed.join('')}</HOST_LIST></ASSET_DATA_REPORT>`;
    return (await readAll(qualys, fromBuffer(text))).runs.map(({ asset, unfinished }) => [asset?.name, unfinished]);
  };
  expect(await runsOf([1, 2, 1, 0], [found, found, '', ''])).toEqual([
    ['192.0.2.0', undefined],
    ['192.0.2.1', true],
    ['192.0.2.2', true],
    ['192.0.2.3', undefined],
  ]);
  expect(await runsOf([1], [])).toEqual([[undefined, true]]);
  expect(await runsOf([0], [])).toEqual([]);
});

test('detections: state the last scan of each host and whether it could log in', async () => {
  const host = (ip: string, login: string) =>
    `<HOST><IP>${ip}</IP><LAST_VM_SCANNED_DATE>2026-02-01T08:00:00Z</LAST_VM_SCANNED_DATE>${login ? `<LAST_VM_AUTH_SCANNED_DATE>${login}</LAST_VM_AUTH_SCANNED_DATE>` : ''}</HOST>`;
  const hosts = [host('192.0.2.1', '2026-02-01T08:00:00Z'), host('192.0.2.2', '2026-01-01T08:00:00Z'), host('192.0.2.3', '')];
  const text = `<HOST_LIST_VM_DETECTION_OUTPUT><RESPONSE><HOST_LIST>${hosts.join('')}</HOST_LIST></RESPONSE></HOST_LIST_VM_DETECTION_OUTPUT>`;
  const { runs } = await readAll(qualys, fromBuffer(text));
  expect(runs.map(({ asset, credentialed }) => [asset?.name, credentialed])).toEqual([
    ['192.0.2.1', true],
    ['192.0.2.2', false],
    ['192.0.2.3', undefined],
  ]);
  expect(runs[0]?.finished_at).toEqual(new Date('2026-02-01T08:00:00Z'));
});

test('web application report: states times, versions, login and applications', async () => {
  const scan = `<SCAN><START_DATE>12 Mar 2020 04:42PM GMT-0400</START_DATE><END_DATE>12 Mar 2020 04:54PM GMT-0400</END_DATE>
    <SCANNER>External (IP: 192.0.2.1, Scanner: 11.8.30-1, WAS: 7.6.34-1, Signatures: 2.4.841-2)</SCANNER><AUTHENTICATION_STATUS>Successful</AUTHENTICATION_STATUS></SCAN>`;
  const text = `<WAS_SCAN_REPORT><RESULTS></RESULTS><APPENDIX><SCAN_LIST>${scan}</SCAN_LIST><WEBAPP><NAME>Shop</NAME><URL>https://shop.example.com/</URL></WEBAPP></APPENDIX></WAS_SCAN_REPORT>`;
  expect((await readAll(qualys, fromBuffer(text))).runs).toMatchObject([
    {
      tool_version: '11.8.30-1',
      knowledge: '2.4.841-2',
      started_at: new Date('2020-03-12T20:42:00Z'),
      finished_at: new Date('2020-03-12T20:54:00Z'),
      credentialed: true,
    },
    { asset: { type: 'web_application', name: 'https://shop.example.com' } },
  ]);
});

test.each([
  ['Active_Attacks', 'attacked', true],
  ['Exploit_Kit', 'functional', undefined],
  ['Public_Exploit', 'proof_of_concept', undefined],
  ['Easy_Exploit', undefined, undefined],
])('CSV: whether the threat indicator %s says that the vulnerability is exploited', async (indicator, maturity, exploited) => {
  const text = `QID,Title,IP,Severity,RTI\n730143,Log4Shell,192.0.2.1,5,${indicator}`;
  const [observation] = (await readAll(qualys, fromBuffer(text))).observations;
  expect([observation?.exploit_maturity, observation?.known_exploited]).toEqual([maturity, exploited]);
});

test('CSV: keeps scores without a vector, threat indicators and hosts without findings', async () => {
  const text = [
    'QID,Title,IP,Severity,CVSSv2 Base (nvd),CVSSv3.1 Base (nvd),RTI',
    '730143,Log4Shell,192.0.2.1,5,9.3,10.0,"Active_Attacks,Cisa_Known_Exploited_Vulns"',
    ',,192.0.2.2,,,,',
    ',,closing remark,,,,',
  ];
  const { observations, runs } = await readAll(qualys, fromBuffer(text.join('\n')));
  expect(observations).toMatchObject([
    {
      cvss: [
        { score: 10, version: '3.1' },
        { score: 9.3, version: '2.0' },
      ],
      exploit_maturity: 'attacked',
      known_exploited: true,
    },
  ]);
  expect(runs).toMatchObject([{ asset: { name: '192.0.2.2' } }]);
});
