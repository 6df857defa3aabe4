import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { openvas } from './index.ts';

const read = (name: string) => readAll(openvas, fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name));

test('reads a result with check, ids, vector, host and port', async () => {
  const { observations, rejections } = await read('report.xml');
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(4);
  expect(observations[0]).toEqual({
    place: 'report[1]/results[1]/result[1]',
    tool: 'openvas',
    rule: '1.3.6.1.4.1.25623.1.0.900001',
    external_id: null,
    title: 'Deprecated TLS versions',
    description: 'The service accepts TLS 1.0.\n\nTLS 1.0 was accepted.\n\nOld versions have known flaws | weak ciphers.',
    solution: 'Disable TLS 1.0.',
    severity: 'high',
    tool_severity: 'High',
    vulnerability_ids: ['CVE-2011-3389'],
    cwes: [],
    cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N' }],
    references: ['https://tls.example.org/deprecated'],
    asset: {
      type: 'host',
      name: 'app.example.com',
      identifiers: [
        { kind: 'fqdn', value: 'app.example.com' },
        { kind: 'ip', value: '192.0.2.10' },
      ],
    },
    location: { port: 443, protocol: 'tcp' },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: new Date('2026-03-02T09:10:11Z'),
    tags: ['SSL and TLS'],
  });
});

test('reads a log entry as info and "general" as no port', async () => {
  const { observations } = await read('report.xml');
  expect(observations[1]).toMatchObject({ severity: 'info', tool_severity: 'Log', location: {} });
});

test('uses a matched CVE as rule, with the severity of its score and the matched product', async () => {
  const { observations } = await read('report.xml');
  expect(observations[2]).toMatchObject({
    rule: 'CVE-2021-26690',
    vulnerability_ids: ['CVE-2021-26690'],
    severity: 'critical',
    location: { component: 'http_server', version: '2.4.7' },
  });
  expect(observations[2]?.location.port).toBeUndefined();
});

test('suppresses false positives with their original severity, and reads ids and links of old reports from text', async () => {
  const { observations } = await read('report.xml');
  expect(observations[3]).toMatchObject({
    severity: 'medium',
    tool_severity: 'False Positive',
    suppressed: true,
    vulnerability_ids: ['CVE-1999-0501', 'CVE-1999-0502'],
    references: ['https://a.example.org/1', 'https://a.example.org/2'],
    location: { port: 22, protocol: 'tcp' },
  });
});

test('reads a GMP response and rejects a result without a host', async () => {
  const { observations, rejections } = await read('gmp-malformed.xml');
  expect(rejections).toEqual([{ place: 'result[1]', reason: 'host is missing' }]);
  expect(observations).toMatchObject([{ place: 'result[2]', rule: 'Host summary', severity: 'low', asset: { name: '192.0.2.12' } }]);
});

test('reads the same findings from CSV as from XML', async () => {
  const { observations, rejections } = await read('results.csv');
  expect(rejections).toEqual([{ place: 'line 5', reason: 'IP is missing' }]);
  expect(observations).toMatchObject([
    {
      place: 'line 2',
      rule: '1.3.6.1.4.1.25623.1.0.900001',
      title: 'Deprecated TLS versions',
      description: 'The service accepts TLS 1.0.\n\nTLS 1.0 was accepted.\nCiphers: 3\n\nData may be read.',
      solution: 'Disable TLS 1.0.',
      severity: 'high',
      vulnerability_ids: ['CVE-2011-3389', 'CVE-2015-0204'],
      references: ['https://tls.example.org/deprecated'],
      asset: { type: 'host', name: 'app.example.com' },
      location: { port: 443, protocol: 'tcp' },
      last_seen: new Date('2026-03-02T09:10:11Z'),
    },
    { rule: 'CVE-2021-26690', severity: 'critical', vulnerability_ids: ['CVE-2021-26690'], location: { component: 'http_server', version: '2.4.7' } },
    { severity: 'info', asset: { name: 'printer' }, location: { port: 161, protocol: 'udp' } },
  ]);
});

test('accepts reports without results', async () => {
  expect(await read('empty.xml')).toMatchObject({ observations: [], rejections: [] });
  expect(await read('empty.csv')).toMatchObject({ observations: [], rejections: [] });
});

test.each(['<report><coverage/></report>', '{"results":[]}', 'IP,Name\n192.0.2.1,x\n'])('rejects another file: %s', async (text) => {
  await expect(readAll(openvas, fromBuffer(text))).rejects.toThrow(ReportError);
  await expect(readAll(openvas, fromBuffer(text))).rejects.toThrow(/Greenbone XML/);
});

test('rejects a truncated report', async () => {
  const whole = readFileSync(new URL('fixtures/report.xml', import.meta.url));
  await expect(readAll(openvas, fromBuffer(whole.subarray(0, whole.length - 40)))).rejects.toThrow(/not complete/);
});

test.each([
  ['Done', true],
  ['Stopped', false],
  ['Interrupted', false],
])('a run that is %s is finished: %s', async (status, finished) => {
  const text = `<report format_id="x"><report><scan_run_status>${status}</scan_run_status><results/></report></report>`;
  expect(await openvas.about?.(fromBuffer(text))).toEqual({ tools: null, finished, unread: [] });
});

const inReport = (content: string) => fromBuffer(`<report format_id="x"><report><scan_run_status>Done</scan_run_status>${content}</report></report>`);

test('states times, hosts and logins of the scan, also for hosts without results', async () => {
  const detail = (name: string, value: string) => `<detail><name>${name}</name><value>${value}</value></detail>`;
  const text = `<scan_start>2025-02-03T04:00:00Z</scan_start>
    <host><ip>192.0.2.1</ip><start>2025-02-03T04:01:00Z</start><end>2025-02-03T04:05:00Z</end>${detail('hostname', 'web.example.com')}${detail('Auth-SSH-Success', 'x')}${detail('Auth-SMB-Failure', 'x')}</host>
    <host><ip>192.0.2.2</ip>${detail('Auth-SSH-Failure', 'x')}</host>
    <host><ip>192.0.2.3</ip></host><host></host>
    <results></results><scan_end>2025-02-03T05:00:00Z</scan_end>`;
  const { runs, observations } = await readAll(openvas, inReport(text));
  expect(observations).toEqual([]);
  expect(runs).toMatchObject([
    { started_at: new Date('2025-02-03T04:00:00Z') },
    { asset: { name: 'web.example.com' }, started_at: new Date('2025-02-03T04:01:00Z'), finished_at: new Date('2025-02-03T04:05:00Z'), credentialed: true },
    { asset: { name: '192.0.2.2' }, credentialed: false },
    { asset: { name: '192.0.2.3' } },
    { finished_at: new Date('2025-02-03T05:00:00Z') },
  ]);
  expect(runs[3]).not.toHaveProperty('credentialed');
});

test('states that a host was scanned by its address as well, if results know it only by that', async () => {
  const host = '<host><ip>192.0.2.1</ip><detail><name>hostname</name><value>web.example.com</value></detail></host>';
  const result = (name: string) =>
    `<results><result><host>192.0.2.1${name}</host><nvt oid="1.2.3"><name>A</name></nvt><threat>High</threat></result></results>`;
  const covered = async (text: string) => (await readAll(openvas, inReport(text))).runs.map(({ asset }) => asset?.name);
  expect(await covered(host + result(''))).toEqual(['web.example.com', '192.0.2.1']);
  expect(await covered(result('') + host)).toEqual(['web.example.com', '192.0.2.1']);
  expect(await covered(host + result('<hostname>web.example.com</hostname>'))).toEqual(['web.example.com']);
});

test('keeps EPSS, the type of solution and scores without a vector', async () => {
  const nvt = `<nvt oid="1.2.3"><name>A</name><cvss_base>7.5</cvss_base><solution type="WillNotFix">None.</solution>
    <epss><max_severity><score>0.1</score></max_severity><max_epss><score>0.52</score><percentile>0.97</percentile></max_epss></epss></nvt>`;
  const { observations } = await readAll(openvas, inReport(`<results><result><host>192.0.2.1</host>${nvt}<threat>High</threat></result></results>`));
  const facts = { cvss: [{ score: 7.5 }], epss: { score: 0.52, percentile: 0.97 }, fix_state: 'will_not_fix' };
  expect(observations).toMatchObject([facts]);
  const csv = 'IP,NVT Name,NVT OID,CVSS,Severity,Solution Type,EPSS,EPSS Percentile\n192.0.2.1,A,1.2.3,7.5,High,WillNotFix,0.52,0.97\n';
  expect((await readAll(openvas, fromBuffer(csv))).observations).toMatchObject([facts]);
});
