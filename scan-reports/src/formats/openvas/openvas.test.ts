import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { ReportError, type RunFacts } from '../../contract.ts';
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

describe('results that the report leaves out', () => {
  const counts = (levels: Record<string, readonly [full: number, filtered: number]>) => {
    const sum = (at: 0 | 1) => Object.values(levels).reduce((total, level) => total + level[at], 0);
    const each = Object.entries(levels).map(([level, [full, filtered]]) => `<${level}><full>${full}</full><filtered>${filtered}</filtered></${level}>`);
    return `<result_count>${sum(0)}<full>${sum(0)}</full><filtered>${sum(1)}</filtered>${each.join('')}</result_count>`;
  };
  const term = (text: string) => `<filters id="0"><term>${text.replace('>', '&gt;')}</term></filters>`;
  const defaults = 'apply_overrides=0 levels=hml rows=100 min_qod=70 first=1 sort-reverse=severity';
  const result = (more = '') => `<result><host>192.0.2.1</host><nvt oid="1.2.3"><name>A</name></nvt><threat>High</threat>${more}</result>`;
  const results = (count: number) => `<results start="1" max="100">${result().repeat(count)}</results>`;
  const stated = async (content: string) => Object.assign({}, ...(await readAll(openvas, inReport(content))).runs) as RunFacts;

  it.each([
    ['of a severity', defaults, counts({ high: [2, 1], medium: [0, 0], log: [30, 0] })],
    ['of a severity, in old reports', defaults, counts({ hole: [1, 1], warning: [1, 0], info: [0, 0], log: [3, 0] })],
    ['critical ones', 'levels=hml', counts({ critical: [1, 0], high: [1, 1] })],
    ['that are below the severity', 'severity>6', counts({ high: [1, 1], low: [4, 0] })],
    ['without the phrase', 'apache levels=chmlgf min_qod=0', counts({ high: [3, 1] })],
    ['that were called false positives', 'apply_overrides=1 levels=hml', counts({ high: [1, 1], false_positive: [1, 0] })],
    ['that overrides may have turned into log messages', 'apply_overrides=1 levels=hml', counts({ high: [1, 1], log: [3, 0] })],
    ['of unknown severities', defaults, '<result_count>1<full>4</full><filtered>1</filtered></result_count>'],
    ['of the pages before', 'first=11 rows=10', ''],
    ['of the pages after', 'first=1 rows=1', ''],
  ])('it has not all of the scan: %s', async (_, filter, numbers) => {
    expect(await stated(`${term(filter)}${numbers}${results(1)}`)).toMatchObject({ unfinished: true });
  });

  it.each([
    ['has all results', defaults, counts({ high: [1, 1], log: [0, 0] }), {}],
    ['leaves out log messages', defaults, counts({ high: [1, 1], log: [30, 0] }), { left_out: ['info'] }],
    ['leaves out debug messages', defaults, counts({ high: [1, 1], debug: [2, 0], log: [1, 0] }), { left_out: ['info'] }],
    ['has all results with overrides', 'apply_overrides=1 levels=hml', counts({ high: [1, 1] }), {}],
    ['does not count results', defaults, '', { restrictions: ['levels=hml', 'min_qod=70'] }],
  ])('it has all findings of the scan if it %s', async (_, filter, numbers, facts) => {
    expect(await stated(`${term(filter)}${numbers}${results(1)}`)).toEqual(facts);
  });

  it('knows the pages of results that were fetched through GMP', async () => {
    const response = async (count: number, page: string) => {
      const text = `<get_results_response status="200">${result().repeat(count)}<filters><term>levels=hml rows=10</term></filters>${page}</get_results_response>`;
      return (await openvas.about?.(fromBuffer(text)))?.finished;
    };
    const counted = '<results start="1" max="10"/><result_count>40<filtered>2</filtered><page>1</page></result_count>';
    expect(await response(1, counted)).toBe(false);
    expect(await response(2, counted)).toBe(true);
  });

  it('are those of the other report if two reports are compared', async () => {
    const delta = `<report format_id="x"><report type="delta"><delta><report id="2"><scan_run_status>Done</scan_run_status></report></delta>
      <results>${result('<delta>new</delta>')}${result('<delta>gone</delta>')}</results></report></report>`;
    expect(await openvas.about?.(fromBuffer(delta))).toMatchObject({ finished: false });
    const { observations, rejections } = await readAll(openvas, fromBuffer(delta));
    expect(observations).toMatchObject([{ present: true }]);
    expect(rejections).toEqual([{ place: expect.any(String), reason: expect.stringContaining('compares two reports') }]);
  });

  it('are those of checks that did not come to their end', async () => {
    const error = (oid: string) => `<error><host>192.0.2.1</host><description>NVT timed out after 320 seconds.</description><nvt oid="${oid}"/></error>`;
    const text = (errors: string) => inReport(`${results(0)}<errors><count>1</count>${errors}</errors>`);
    expect(await openvas.about?.(text(error('1.2.3') + error('1.2.3')))).toMatchObject({ finished: true, skipped: [{ rule: '1.2.3', path: null }] });
    expect(await openvas.about?.(text(''))).toEqual({ tools: null, finished: true, unread: [] });
  });

  it('are those of a host with an error that is about no check', async () => {
    const host = '<host><ip>192.0.2.1</ip><detail><name>hostname</name><value>web.example.com</value></detail></host><host><ip>192.0.2.2</ip></host>';
    const error = '<errors><error><host>192.0.2.1</host><description>Host process failure.</description><nvt oid="0"/></error></errors>';
    const { runs } = await readAll(openvas, inReport(results(1) + host + error));
    expect(runs.flatMap(({ asset, unfinished }) => (unfinished ? asset?.name : []))).toEqual(['web.example.com', '192.0.2.1']);
  });

  it('are those of hosts that did not answer or were not scanned to their end', async () => {
    const host = (ip: string, more: string) => `<host><ip>${ip}</ip>${more}</host>`;
    const start = '<start>2025-02-03T04:01:00Z</start>';
    const dead = (value: string) => `<detail><name>Host dead</name><value>${value}</value></detail>`;
    const end = '<end>2025-02-03T04:02:00Z</end>';
    const text = [start, `${start}<end/>`, '<start/><end/>', start + end + dead('1'), start + end + dead('0')].map((more, n) => host(`192.0.2.${n}`, more));
    const { runs } = await readAll(openvas, inReport(text.join('') + results(0)));
    expect(runs.map(({ asset, unfinished }) => [asset?.name, unfinished])).toEqual([
      ['192.0.2.0', true],
      ['192.0.2.1', true],
      ['192.0.2.2', true],
      ['192.0.2.3', true],
      ['192.0.2.4', undefined],
    ]);
  });

  it('rejects the response to a request that failed', async () => {
    const text = '<get_reports_response status="404" status_text="Failed to find report \'x\'"/>';
    await expect(readAll(openvas, fromBuffer(text))).rejects.toThrow(/Failed to find report 'x'/);
  });
});
