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
    tool_severity: 'Medium',
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
  for (const name of ['empty.nessus', 'empty.csv']) expect(await read(name)).toEqual({ observations: [], rejections: [] });
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
