import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { nexpose } from './index.ts';

const read = (name: string) => readAll(nexpose, fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name));

test('reads a positive test with its vulnerability definition, host and service', async () => {
  const { observations, rejections } = await read('export.xml');
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(5);
  expect(observations[2]).toEqual({
    place: 'nodes[1]/node[1]/endpoints[1]/endpoint[1]/services[1]/service[1]/tests[1]/test[1]',
    tool: 'nexpose',
    rule: 'openssl-example',
    external_id: null,
    title: 'OpenSSL: memory corruption',
    description: 'Memory is overwritten.\n\nExploited.',
    solution: 'Upgrade OpenSSL\nRestart',
    severity: 'critical',
    tool_severity: '9',
    vulnerability_ids: ['CVE-2021-3711'],
    cwes: [120],
    cvss: [{ vector: 'AV:N/AC:M/Au:N/C:C/I:C/A:C', score: 9.3 }],
    references: ['https://openssl.example.org/advisory'],
    asset: {
      type: 'host',
      name: 'db1.example.com',
      identifiers: [
        { kind: 'fqdn', value: 'db1.example.com' },
        { kind: 'hostname', value: 'db1' },
        { kind: 'ip', value: '192.0.2.70' },
        { kind: 'mac', value: '00:00:5e:00:53:01' },
      ],
    },
    location: { port: 443, protocol: 'tcp' },
    present: true,
    suppressed: false,
    first_seen: new Date('2026-01-15T12:00:00Z'),
    last_seen: new Date('2026-02-01T10:00:00.500Z'),
    tags: ['OpenSSL'],
  });
});

test('keys separate locations, exceptions are suppressed, potential findings are tagged, and negative tests are skipped', async () => {
  const { observations } = await read('export.xml');
  expect(observations.map(({ rule, severity, suppressed, location, tags }) => ({ rule, severity, suppressed, resource: location.resource, tags }))).toEqual([
    { rule: 'unix-home-dir-mode', severity: 'low', suppressed: false, resource: '/home/alice', tags: [] },
    { rule: 'openssl-example', severity: 'critical', suppressed: true, resource: undefined, tags: ['OpenSSL'] },
    { rule: 'openssl-example', severity: 'critical', suppressed: false, resource: undefined, tags: ['OpenSSL'] },
    { rule: 'tls-old', severity: 'medium', suppressed: false, resource: undefined, tags: ['potential'] },
    { rule: 'undefined-check', severity: 'unknown', suppressed: false, resource: undefined, tags: [] },
  ]);
  expect(observations[4]).toMatchObject({ title: 'undefined-check', asset: { name: '192.0.2.71' }, first_seen: null, last_seen: null });
});

test('rejects tests without a host or an id', async () => {
  const { observations, rejections } = await read('malformed.xml');
  expect(rejections).toEqual([
    { place: 'nodes[1]/node[1]/tests[1]/test[1]', reason: 'the node has no address' },
    { place: 'nodes[1]/node[2]/tests[1]/test[2]', reason: 'id is missing' },
  ]);
  expect(observations).toMatchObject([{ rule: 'a', title: 'A weakness', severity: 'high', asset: { name: '192.0.2.72' } }]);
});

test('accepts a report without tests', async () => {
  expect(await read('empty.xml')).toMatchObject({ observations: [], rejections: [] });
});

test('rejects another file', async () => {
  await expect(readAll(nexpose, fromBuffer('<nmaprun/>'))).rejects.toThrow(ReportError);
  await expect(readAll(nexpose, fromBuffer('{}'))).rejects.toThrow(/NexposeReport/);
});

test.each([
  ['finished', true],
  ['stopped', false],
])('a scan that is %s is finished: %s', async (status, finished) => {
  const text = `<NexposeReport version="2.0"><scans><scan id="1" status="${status}"/></scans><nodes/></NexposeReport>`;
  expect(await nexpose.about?.(fromBuffer(text))).toEqual({ tools: null, finished, unread: [] });
});

test('states every node that is alive, with the times of its scan', async () => {
  const text = `<NexposeReport version="2.0"><scans>
      <scan id="1" startTime="20210211T162340221" endTime="20210211T164705486" status="finished"/>
      <scan id="2" startTime="20210311T162340221" endTime="20210311T164705486" status="finished"/></scans>
    <nodes><node address="192.0.2.1" status="alive"><names><name>db1.example.com</name></names><tests><test id="a" status="not-vulnerable" scan-id="2"/></tests></node>
      <node address="192.0.2.2" status="dead"/><node address="192.0.2.3" status="alive"/></nodes></NexposeReport>`;
  const { runs } = await readAll(nexpose, fromBuffer(text));
  expect(runs).toMatchObject([
    { asset: { name: 'db1.example.com' }, started_at: new Date('2021-03-11T16:23:40.221Z'), finished_at: new Date('2021-03-11T16:47:05.486Z') },
    { asset: { name: '192.0.2.3' } },
  ]);
  expect(runs[1]).not.toHaveProperty('started_at');
});

test.each([
  ['<malware><name>Kit</name></malware><exploits><exploit type="exploitdb"/></exploits>', 'functional'],
  ['<exploits><exploit type="exploitdb"/><exploit type="metasploit"/></exploits>', 'functional'],
  ['<exploits><exploit type="exploitdb"/></exploits>', 'proof_of_concept'],
  ['<malware/><exploits/>', undefined],
])('keeps exploits and a score without a vector: %s', async (content, expected) => {
  const text = `<NexposeReport><nodes><node address="192.0.2.1"><tests><test id="a" status="vulnerable-version"/></tests></node></nodes>
    <VulnerabilityDefinitions><vulnerability id="a" title="A" severity="7" cvssScore="6.8">${content}</vulnerability></VulnerabilityDefinitions></NexposeReport>`;
  const [observation] = (await readAll(nexpose, fromBuffer(text))).observations;
  expect(observation?.exploit_maturity).toBe(expected);
  expect(observation?.cvss).toEqual([{ score: 6.8, version: '2.0' }]);
});
