import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { productOfCpe } from '../../shared/cpe.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { nmap } from './index.ts';

const read = (name: string) => readAll(nmap, fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name));

test('reads open ports as informational findings and skips closed and undetermined ports', async () => {
  const { observations, rejections } = await read('scan.xml');
  expect(rejections).toEqual([]);
  expect(observations.filter(({ rule }) => rule === 'open-port').map(({ title }) => title)).toEqual(['Open port: 22/tcp', 'Open port: 445/tcp']);
  expect(observations[0]).toEqual({
    place: 'host[1]/ports[1]/port[1]',
    tool: 'nmap',
    rule: 'open-port',
    external_id: null,
    title: 'Open port: 22/tcp',
    description: 'ssh: OpenSSH 7.4 (protocol 2.0)',
    solution: null,
    severity: 'info',
    tool_severity: null,
    vulnerability_ids: [],
    cwes: [],
    cvss: [],
    references: [],
    asset: {
      type: 'host',
      name: 'www.example.com',
      identifiers: [
        { kind: 'fqdn', value: 'www.example.com' },
        { kind: 'ip', value: '192.0.2.20' },
        { kind: 'mac', value: '00:00:5e:00:53:01' },
        { kind: 'fqdn', value: 'node-20.example.net' },
      ],
    },
    location: { port: 22, protocol: 'tcp' },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: new Date(1_767_225_660_000),
    tags: ['open-port', 'ssh'],
  });
});

test('reads each vulners bulletin as a weakness, with unknown severity for an exploit without a score', async () => {
  const { observations } = await read('scan.xml');
  expect(observations.slice(1, 3)).toMatchObject([
    {
      place: 'host[1]/ports[1]/port[1]/script[1]/table[1]/table[1]',
      rule: 'CVE-2023-38408',
      title: 'CVE-2023-38408 in openssh 7.4',
      severity: 'critical',
      tool_severity: '9.8',
      vulnerability_ids: ['CVE-2023-38408'],
      references: ['https://vulners.com/cve/CVE-2023-38408'],
      location: { port: 22, protocol: 'tcp', component: 'openssh', version: '7.4' },
      tags: ['vulners'],
    },
    { rule: 'EDB-ID:45939', severity: 'unknown', vulnerability_ids: [], tags: ['vulners', 'exploit'] },
  ]);
});

test('reads vulnerable states from scripts of the vulns library', async () => {
  const { observations } = await read('scan.xml');
  expect(observations.slice(4)).toMatchObject([
    {
      place: 'host[2]/hostscript[1]/script[1]/table[1]',
      rule: 'smb-vuln-ms17-010',
      title: 'Remote Code Execution vulnerability in Microsoft SMBv1 servers (ms17-010)',
      description: 'A flaw in SMBv1 lets attackers run code.',
      severity: 'high',
      tool_severity: 'HIGH',
      vulnerability_ids: ['CVE-2017-0143'],
      references: ['https://cve.mitre.org/cgi-bin/cvename.cgi?name=CVE-2017-0143'],
      asset: { type: 'host', name: '192.0.2.21' },
      location: {},
      tags: ['vulnerable'],
    },
    { rule: 'ssl-example', severity: 'medium', cvss: [{ vector: 'AV:N/AC:M/Au:N/C:P/I:N/A:N', score: 4.3 }], tags: ['likely vulnerable'] },
  ]);
});

test('reads the text output of old vulners versions and rejects records without a port number or id', async () => {
  const { observations, rejections } = await read('vulners-text-malformed.xml');
  expect(rejections).toEqual([
    { place: 'host[1]/ports[1]/port[2]', reason: 'portid is not a port number' },
    { place: 'host[1]/ports[1]/port[3]/script[1]/table[1]/table[1]', reason: 'id is missing' },
  ]);
  expect(observations.map(({ rule, severity, location }) => [rule, severity, location.component, location.version, location.port])).toEqual([
    ['open-port', 'info', undefined, undefined, 53],
    ['CVE-2012-1667', 'high', 'ISC BIND', '9.8.2', 53],
    ['MSF:EXAMPLE', 'medium', 'ISC BIND', '9.8.2', 53],
    ['open-port', 'info', undefined, undefined, 80],
  ]);
  expect(observations[0]?.asset?.name).toBe('2001:db8::1');
});

test('accepts a scan without hosts', async () => {
  expect(await read('empty.xml')).toMatchObject({ observations: [], rejections: [] });
});

test('rejects another file', async () => {
  for (const text of ['<report/>', '{}', '']) await expect(readAll(nmap, fromBuffer(text))).rejects.toThrow(ReportError);
  await expect(readAll(nmap, fromBuffer('<report/>'))).rejects.toThrow(/root element nmaprun/);
});

test('rejects an aborted scan', async () => {
  await expect(readAll(nmap, fromBuffer('<nmaprun scanner="nmap"><host><address addr="192.0.2.1"/></host>'))).rejects.toThrow(/not complete/);
});

test.each([
  ['cpe:/a:openbsd:openssh:7.4', { component: 'openssh', version: '7.4' }],
  ['cpe:2.3:a:vendor:a\\:b:1.0:*:*', { component: 'a:b', version: '1.0' }],
  ['cpe:/o:linux:linux_kernel', { component: 'linux_kernel', version: undefined }],
  ['cpe:2.3:a:vendor:product:*:*', { component: 'product', version: undefined }],
  ['OpenSSH 7.4', null],
])('productOfCpe reads %s', (cpe, product) => {
  expect(productOfCpe(cpe)).toEqual(product);
});

test.each([
  ['<runstats><finished time="1" exit="success"/></runstats>', true],
  ['<runstats><finished time="1"/></runstats>', true],
  ['<runstats><finished time="1" exit="error" errormsg="x"/></runstats>', false],
  ['<runstats><hosts up="1"/></runstats>', false],
  ['', false],
  ['<host timedout="true"><address addr="192.0.2.1" addrtype="ipv4"/></host><runstats><finished exit="success"/></runstats>', false],
])('a run with %s is finished: %s', async (inside, finished) => {
  expect(await nmap.about?.(fromBuffer(`<nmaprun scanner="nmap">${inside}</nmaprun>`))).toEqual({ tools: null, finished, unread: [] });
});

test('states version and times of the run and every host that is up', async () => {
  const address = (ip: string) => `<address addr="${ip}" addrtype="ipv4"/>`;
  const text = `<nmaprun scanner="nmap" start="1581930445" version="7.60">
    <host starttime="1581930450" endtime="1581930455"><status state="up"/>${address('192.0.2.1')}<ports/></host>
    <host><status state="down"/>${address('192.0.2.2')}</host><host>${address('192.0.2.3')}</host>
    <runstats><finished time="1581930460" exit="success"/></runstats></nmaprun>`;
  const { runs, observations } = await readAll(nmap, fromBuffer(text));
  expect(observations).toEqual([]);
  expect(runs).toMatchObject([
    { tool_version: '7.60', started_at: new Date('2020-02-17T09:07:25Z') },
    { asset: { name: '192.0.2.1' }, started_at: new Date('2020-02-17T09:07:30Z'), finished_at: new Date('2020-02-17T09:07:35Z') },
    { asset: { name: '192.0.2.3' } },
    { finished_at: new Date('2020-02-17T09:07:40Z') },
  ]);
});

test('keeps scores and exploits of vulners', async () => {
  const element = (key: string, value: string) => `<elem key="${key}">${value}</elem>`;
  const row = `<table>${element('id', 'CVE-2021-1')}${element('cvss', '7.5')}${element('is_exploit', 'true')}${element('kev', 'true')}</table>`;
  const port = `<port protocol="tcp" portid="22"><state state="open"/><script id="vulners"><table key="cpe:/a:x:y:1">${row}</table></script></port>`;
  const { observations } = await readAll(nmap, fromBuffer(`<nmaprun><host><address addr="192.0.2.1" addrtype="ipv4"/><ports>${port}</ports></host></nmaprun>`));
  expect(observations[1]).toMatchObject({ cvss: [{ score: 7.5 }], exploit_maturity: 'proof_of_concept', known_exploited: true });
});

test.each([
  ['-sV --script vuln', []],
  ['-A --script default,vuln', []],
  ['-sSV -script=all', []],
  ['-sV --script "vuln and safe" --script-args \'vulners.mincvss=7.5,password=x\'', ['--script vuln and safe', 'mincvss=7.5']],
  ['-sV --script +nmap-vulners/vulners.nse,http-shellshock --script-args mincvss=0', ['--script http-shellshock,vulners']],
  ['-sC -p 80', ['without scripts', 'without -sV']],
])('states which weaknesses the options leave out: %s', async (args, restrictions) => {
  const text = `<nmaprun args="nmap ${args.replaceAll('"', '&quot;')}"><runstats><finished exit="success"/></runstats></nmaprun>`;
  expect((await readAll(nmap, fromBuffer(text))).runs.flatMap((run) => run.restrictions ?? [])).toEqual(restrictions);
});
