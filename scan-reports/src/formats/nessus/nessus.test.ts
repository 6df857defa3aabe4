import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readFixtures } from '../../testing/fixtures.ts';
import { readAll } from '../../testing/reading.ts';
import { nessus } from './index.ts';

async function read(name: string) {
  const fixture = readFixtures('nessus').find((one) => one.name === name);
  return await readAll(nessus, fromBuffer(fixture?.bytes ?? '', name));
}

const web = {
  type: 'host',
  name: 'web.example.com',
  identifiers: [
    { kind: 'fqdn', value: 'web.example.com' },
    { kind: 'netbios', value: 'web' },
    { kind: 'ip', value: '192.0.2.10' },
    { kind: 'mac', value: '00:00:5e:00:53:01' },
  ],
};

test('reads hosts and plugins from XML', async () => {
  const { observations, rejections } = await read('network.nessus');
  expect(rejections).toEqual([]);
  expect(observations[0]).toEqual({
    place: 'Report[1]/ReportHost[1]/ReportItem[1]',
    tool: 'nessus',
    rule: '90001',
    external_id: null,
    title: 'Apache < 2.4.52 Multiple Vulnerabilities',
    description: 'The web server has weaknesses.\n\nThe web server is out of date.\n\nInstalled version : 2.4.6',
    solution: 'Upgrade.',
    severity: 'critical',
    tool_severity: '9.8',
    vulnerability_ids: ['CVE-2021-44790', 'CVE-2021-44224'],
    cwes: [476, 787],
    cvss: [
      { vector: 'CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', score: 9.8 },
      { vector: 'AV:N/AC:L/Au:N/C:P/I:N/A:N', score: 5 },
    ],
    references: ['https://example.com/a', 'https://example.com/b'],
    asset: web,
    location: { port: 443, protocol: 'tcp', component: 'http_server' },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: new Date('2024-05-06T07:00:00Z'),
    tags: ['Web Servers'],
  });
  expect(observations.slice(1)).toMatchObject([
    { rule: '90002', severity: 'low', asset: web },
    { rule: '19506', severity: 'info', solution: null, location: { protocol: 'tcp' } },
    {
      rule: '21156/deadbeef01',
      title: '1.1.1 Minimum password length',
      description: 'Passwords have to be long.\n\nPolicy value: 14\n\nActual value: 8',
      solution: 'Set it to 14.',
      severity: 'high',
      tool_severity: 'FAILED',
      references: ['https://example.com/benchmark'],
      present: true,
    },
    { rule: '21156/1.1.2 Password history', title: '1.1.2 Password history', present: false },
    {
      rule: '90003',
      severity: 'critical',
      asset: { name: 'db.example.com', identifiers: [{ kind: 'fqdn', value: 'db.example.com' }] },
      location: { port: 5432, component: 'postgresql-15' },
      last_seen: null,
    },
  ]);
});

test('reads hosts of Web App Scanning as web applications in both exports', async () => {
  const asset = { type: 'web_application', name: 'https://shop.example.com', identifiers: [{ kind: 'fqdn', value: 'shop.example.com' }] };
  const finding = { rule: '98104', severity: 'high', asset, location: { url: 'https://shop.example.com/search' } };
  const { observations } = await read('web-application.nessus');
  expect(observations).toMatchObject([
    { ...finding, cwes: [79], last_seen: new Date('2024-03-12T14:35:34.341Z') },
    { rule: '112491', severity: 'info', asset, location: {} },
  ]);
  expect((await read('web-application.csv')).observations).toMatchObject([finding]);
});

test('reads Nessus CSV with one row per CVE, multi-line cells and empty rows', async () => {
  const { observations, rejections } = await read('classic.csv');
  expect(rejections).toEqual([]);
  expect(observations).toMatchObject([
    {
      place: 'line 2',
      rule: '90001',
      title: 'Apache < 2.4.52',
      description: 'The web server\nhas weaknesses.\n\nOut of date.\n\nInstalled version : 2.4.6, fixed',
      severity: 'critical',
      vulnerability_ids: ['CVE-2021-44790'],
      cwes: [476],
      references: ['https://example.com/a', 'https://example.com/b'],
      asset: { name: '192.0.2.10', identifiers: [{ kind: 'ip', value: '192.0.2.10' }] },
      location: { port: 443, protocol: 'tcp' },
    },
    { place: 'line 6', vulnerability_ids: ['CVE-2021-44224'] },
    { place: 'line 7', severity: 'info', solution: null, asset: { name: 'web.example.com' } },
  ]);
});

test('reads Security Center CSV', async () => {
  expect((await read('security-center.csv')).observations).toMatchObject([
    {
      rule: '90004',
      severity: 'high',
      solution: 'Upgrade.',
      vulnerability_ids: ['CVE-2020-1111', 'CVE-2020-2222'],
      cwes: [310],
      cvss: [{ vector: 'CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', score: 9.8 }, { vector: 'AV:N/AC:L/Au:N/C:C/I:C/A:C' }],
      asset: { name: 'db.example.com' },
      location: { port: 1433, protocol: 'tcp', component: 'database', version: '10.5' },
      suppressed: false,
      first_seen: new Date('2024-02-05T21:01:08Z'),
      last_seen: new Date('2024-02-19T21:01:01Z'),
    },
    { rule: '90005', solution: null, suppressed: true, first_seen: null, asset: { name: '192.0.2.21' } },
  ]);
});

test('reads Vulnerability Management CSV with finding ids and states', async () => {
  expect((await read('vulnerability-management.csv')).observations).toMatchObject([
    {
      external_id: '11111111-0000-4000-8000-000000000001',
      severity: 'critical',
      vulnerability_ids: ['CVE-2021-44790', 'CVE-2021-44224'],
      cwes: [476, 787],
      description: 'Weak.\n\nInstalled; version',
      asset: { name: 'web.example.com' },
      present: true,
      suppressed: false,
      first_seen: new Date('2024-01-02T03:04:05.678Z'),
    },
    { asset: { name: '192.0.2.11' }, present: false, suppressed: true },
  ]);
});

test('rejects malformed records and reads the rest', async () => {
  const xml = await read('malformed.nessus');
  expect(xml.rejections).toEqual([{ place: 'Report[1]/ReportHost[1]/ReportItem[1]', reason: 'pluginID is missing' }]);
  expect(xml.observations).toMatchObject([{ rule: '90007', title: 'Plugin 90007', severity: 'unknown', location: { protocol: 'tcp' } }]);
  const csv = await read('malformed.csv');
  expect(csv.rejections).toEqual([
    { place: 'line 3', reason: 'the plugin id is missing' },
    { place: 'line 4', reason: 'the host is missing' },
  ]);
  expect(csv.observations).toHaveLength(1);
});

test('accepts an empty report and rejects another file', async () => {
  for (const name of ['empty.nessus', 'empty.csv']) expect(await read(name)).toMatchObject({ observations: [], rejections: [] });
  for (const foreign of ['<nmaprun/>', '{"runs":[]}', 'a,b\n1,2\n', ''])
    await expect(readAll(nessus, fromBuffer(foreign))).rejects.toThrow('XML with the root element NessusClientData_v2, or CSV with the columns');
});

test('rejects a truncated report', async () => {
  const bytes = (name: string) => readFixtures('nessus').find((one) => one.name === name)?.bytes ?? Buffer.alloc(0);
  const xml = bytes('network.nessus');
  await expect(readAll(nessus, fromBuffer(xml.subarray(0, xml.length - 40)))).rejects.toThrow('The file is not complete');
  const csv = bytes('vulnerability-management.csv');
  await expect(readAll(nessus, fromBuffer(csv.subarray(0, csv.length - 40)))).rejects.toThrow('The file is not complete');
});

const host = (properties: Record<string, string>, items: string, policy = '') => {
  const tags = Object.entries(properties).map(([name, value]) => `<tag name="${name}">${value}</tag>`);
  return fromBuffer(
    `<NessusClientData_v2>${policy}<Report><ReportHost name="192.0.2.7"><HostProperties>${tags.join('')}</HostProperties>${items}</ReportHost></Report></NessusClientData_v2>`,
  );
};
const information = (credentialed: string) =>
  `<ReportItem port="0" severity="0" pluginID="19506" pluginName="Nessus Scan Information"><plugin_output>Information about this scan :

  Nessus version : 10.1.1
  Plugin feed version : 202203230748
  Credentialed checks : ${credentialed}
  Scan Start Date : 2022/3/23 14:32 CET</plugin_output></ReportItem>`;
const scanned = { type: 'host', name: '192.0.2.7', identifiers: [{ kind: 'ip', value: '192.0.2.7' }] };
const information19506 = { tool_version: '10.1.1', knowledge: '202203230748', knowledge_at: new Date('2022-03-23T07:48:00Z') };

test.each([
  [{ Credentialed_Scan: 'true' }, "yes, as 'scanner' via ssh", true],
  [{ Credentialed_Scan: 'false' }, 'no', false],
  [{}, 'yes', true],
  [{}, 'no', false],
  [{ Credentialed_Scan: 'false' }, 'yes', false],
  [{ Credentialed_Scan: 'true' }, 'no', false],
])('states whether the login worked: %j and "%s"', async (properties, answer, credentialed) => {
  const times = { HOST_START_TIMESTAMP: '1648042311', HOST_END: 'Wed Mar 23 15:07:42 2022' };
  const { runs } = await readAll(nessus, host({ ...properties, ...times }, information(answer)));
  expect(runs).toMatchObject([
    { asset: scanned, started_at: new Date('2022-03-23T13:31:51Z'), finished_at: new Date('2022-03-23T15:07:42Z') },
    information19506,
    { asset: scanned, credentialed },
  ]);
  expect(runs.at(-1)?.credentialed).toBe(credentialed);
});

test('a host without findings is covered, and says nothing about the login', async () => {
  expect((await read('empty.nessus')).runs).toEqual([{ asset: { type: 'host', name: '192.0.2.1', identifiers: [{ kind: 'ip', value: '192.0.2.1' }] } }]);
});

test.each([
  ['is up', undefined],
  ['(192.0.2.7) is considered as dead - not scanning', true],
  ['(192.0.2.7) is dead', true],
])('a host that did not answer was not scanned: %s', async (answer, unfinished) => {
  const ping = `<ReportItem port="0" protocol="tcp" severity="0" pluginID="10180" pluginName="Ping the remote host"><plugin_output>The remote host ${answer}</plugin_output></ReportItem>`;
  const { runs } = await readAll(nessus, host({}, ping));
  expect(runs.at(-1)?.unfinished).toBe(unfinished);
});

test('lists all plugins of the policy, unless another plugin ran', async () => {
  const policy = (plugins: string) =>
    `<Policy><Preferences><ServerPreferences><preference><name>plugin_set</name><value>${plugins}</value></preference></ServerPreferences></Preferences></Policy>`;
  const checks = async (plugins: string) => (await readAll(nessus, host({}, information('no'), policy(plugins)))).runs.at(-1)?.checks;
  expect(await checks('19506;90001;')).toEqual(['19506', '90001']);
  expect(await checks('90001;90002')).toBeUndefined();
  expect(await checks('all')).toBeUndefined();
});

test('keeps EPSS, exploit maturity and known exploitation', async () => {
  const item = (content: string) => `<ReportItem port="0" severity="2" pluginID="1" pluginName="A"><risk_factor>Medium</risk_factor>${content}</ReportItem>`;
  const items = [
    '<epss_score>0.9512</epss_score><exploit_code_maturity>PoC</exploit_code_maturity>',
    '<exploit_available>true</exploit_available><exploit_framework_metasploit>true</exploit_framework_metasploit>',
    '<exploit_available>true</exploit_available><exploit_code_maturity>Unproven</exploit_code_maturity>',
    '<exploited_by_malware>true</exploited_by_malware><cisa-known-exploited>2022/05/03</cisa-known-exploited>',
    '<exploit_available>false</exploit_available>',
  ];
  const { observations } = await readAll(nessus, host({}, items.map(item).join('')));
  expect(observations.map(({ exploit_maturity }) => exploit_maturity)).toEqual(['proof_of_concept', 'functional', 'proof_of_concept', 'attacked', undefined]);
  expect(observations[0]?.epss).toEqual({ score: 0.9512 });
  expect(observations.map(({ known_exploited }) => known_exploited)).toEqual([undefined, undefined, undefined, true, undefined]);
});

test('keeps the day on which the patch was published', async () => {
  const item = (content: string) => `<ReportItem port="0" severity="2" pluginID="1" pluginName="A">${content}</ReportItem>`;
  const dates = ['2021/12/20', ' 2021/12/20 ', '2021/02/30', 'soon', ''].map((text) => `<patch_publication_date>${text}</patch_publication_date>`);
  const { observations } = await readAll(nessus, host({}, [...dates, '<plugin_publication_date>2021/12/23</plugin_publication_date>'].map(item).join('')));
  expect(observations.map(({ fix_published_date }) => fix_published_date)).toEqual(['2021-12-20', '2021-12-20', ...Array(4).fill(undefined)]);
  expect(observations[5]).not.toHaveProperty('fix_published_date');
});

test.each([
  ['Nessus', 'Plugin ID,Host,Name,Patch Publication Date', '1,192.0.2.7,A,2021/12/20'],
  ['Security Center', 'Plugin,Plugin Name,IP Address,Patch Publication Date', '1,A,192.0.2.7,"Dec 20, 2021 12:00:00 EST"'],
  ['Vulnerability Management', 'definition.id,definition.name,asset.name,definition.patch_published', '1,A,web1,2021-12-20T00:00:00.000Z'],
])('CSV of %s: keeps the day on which the patch was published', async (_, header, row) => {
  const { observations } = await readAll(nessus, fromBuffer(`${header}\n${row}\n`));
  expect(observations).toMatchObject([{ rule: '1', fix_published_date: '2021-12-20' }]);
});

test.each([
  ['3', 'Medium', undefined, 'high', '3'],
  ['2', 'Medium', '7.5', 'high', '7.5'],
  ['2', 'Medium', '5.0', 'medium', 'Medium'],
  [undefined, 'High', undefined, 'high', 'High'],
  ['4', undefined, undefined, 'critical', '4'],
])('the severity %s, risk factor %s and score %s give a tool severity that fits', async (number, risk, score, severity, tool_severity) => {
  const item = `<ReportItem port="0" ${number ? `severity="${number}"` : ''} pluginID="1" pluginName="A">${risk ? `<risk_factor>${risk}</risk_factor>` : ''}${
    score ? `<cvss3_base_score>${score}</cvss3_base_score>` : ''
  }</ReportItem>`;
  expect((await readAll(nessus, host({}, item))).observations).toMatchObject([{ severity, tool_severity }]);
});

test('CSV: keeps scores without vectors, EPSS and exploits, and states the scan information', async () => {
  const text = [
    'Plugin ID,CVE,CVSS,CVSSv3,Risk,Host,Protocol,Port,Name,Plugin Output,EPSS Score,Exploit?,Exploit Frameworks,Host Start,Host End',
    '90001,CVE-2021-1,5.0,7.5,High,192.0.2.7,tcp,443,A,,0.52,Yes,"Metasploit (X)",,',
    '19506,,,,None,192.0.2.7,tcp,0,Nessus Scan Information,"Nessus version : 10.1.1\nCredentialed checks : no",,,,2022-03-23 13:31:51,2022-03-23 14:07:42',
  ];
  const { observations, runs } = await readAll(nessus, fromBuffer(text.join('\n')));
  expect(observations[0]).toMatchObject({
    cvss: [
      { score: 7.5, version: '3.0' },
      { score: 5, version: '2.0' },
    ],
    epss: { score: 0.52 },
    exploit_maturity: 'functional',
  });
  expect(runs).toEqual([
    { tool_version: '10.1.1' },
    {
      asset: scanned,
      started_at: new Date('2022-03-23T13:31:51Z'),
      finished_at: new Date('2022-03-23T14:07:42Z'),
      credentialed: false,
    },
  ]);
});
