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
