import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { nuclei } from './index.ts';

const read = (name: string) => readAll(nuclei, fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name));

test('reads a match with template, ids, scores and URL', async () => {
  const { observations, rejections } = await read('results.jsonl');
  expect(rejections).toEqual([]);
  expect(observations[0]).toEqual({
    place: 'line 1',
    tool: 'nuclei',
    rule: 'CVE-2021-44228',
    external_id: null,
    title: 'Apache Log4j2 Remote Code Injection',
    description: 'JNDI lookups run code.\n\nFull control.',
    solution: 'Upgrade to 2.17.1.',
    severity: 'critical',
    tool_severity: 'critical',
    vulnerability_ids: ['CVE-2021-44228'],
    cwes: [20, 917],
    cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', score: 10 }],
    references: ['https://logging.example.org/security'],
    asset: { type: 'web_application', name: 'https://app.example.com', identifiers: [{ kind: 'fqdn', value: 'app.example.com' }] },
    location: { url: 'https://app.example.com/login' },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: new Date('2026-02-01T09:00:00.123Z'),
    tags: ['cve', 'rce'],
  });
});

test('reads hosts, files and matches without a target, and skips templates that did not match', async () => {
  const { observations } = await read('results.jsonl');
  expect(observations.slice(1)).toMatchObject([
    { place: 'line 2', rule: 'http-missing-security-headers:x-frame-options', severity: 'info', location: { url: 'https://app.example.com/' } },
    {
      place: 'line 3',
      severity: 'unknown',
      asset: {
        type: 'host',
        name: 'gw.example.com',
        identifiers: [
          { kind: 'fqdn', value: 'gw.example.com' },
          { kind: 'ip', value: '192.0.2.31' },
        ],
      },
      location: { port: 22, protocol: 'tcp' },
      tags: ['network', 'ssh'],
    },
    { place: 'line 5', rule: 'aws-key', asset: null, location: { path: 'src/config.py', line: 12 } },
    { place: 'line 6', rule: 'nameserver', asset: null, location: {} },
  ]);
});

test('does not keep extracted values, requests and responses', async () => {
  expect(JSON.stringify(await read('results.jsonl'))).not.toMatch(/s3cr3t-value|AKIAEXAMPLE/);
});

test('reads an array export and rejects malformed entries', async () => {
  const { observations, rejections } = await read('export.json');
  expect(rejections).toEqual([
    { place: '[1]', reason: 'template-id is missing' },
    { place: '[2]', reason: 'the record is not an object' },
  ]);
  expect(observations).toMatchObject([
    {
      place: '[0]',
      rule: 'xss-fuzz',
      severity: 'medium',
      references: ['https://xss.example.org'],
      asset: { name: 'https://shop.example.com:8443' },
      location: { url: 'https://shop.example.com:8443/search', method: 'GET', parameter: 'q' },
    },
  ]);
});

test('reads the field names of version 2', async () => {
  const { observations } = await read('version-2.json');
  expect(observations).toMatchObject([
    {
      rule: 'CVE-2020-5902:page',
      severity: 'high',
      vulnerability_ids: ['CVE-2020-5902'],
      asset: { name: 'https://192.0.2.40' },
      location: { url: 'https://192.0.2.40/tmui/login.jsp' },
      tags: ['cve', 'cve2020', 'rce'],
    },
  ]);
});

test('rejects a line that is not JSON and reads the rest', async () => {
  const line = '{"template-id":"a","info":{"name":"A","severity":"low"},"type":"http","matched-at":"https://app.example.com/a"}';
  const { observations, rejections } = await readAll(nuclei, fromBuffer(`${line}\n{"template-id":"b",}\n${line}\n`));
  expect(rejections).toEqual([{ place: 'line 2', reason: 'the record is not valid JSON' }]);
  expect(observations).toHaveLength(2);
});

test('accepts an empty file and an empty array', async () => {
  expect(await read('empty.jsonl')).toMatchObject({ observations: [], rejections: [] });
  expect(await read('empty-export.json')).toMatchObject({ observations: [], rejections: [] });
});

test('rejects another file', async () => {
  await expect(readAll(nuclei, fromBuffer('{"runs":[]}'))).rejects.toThrow(ReportError);
  await expect(readAll(nuclei, fromBuffer('<nmaprun/>'))).rejects.toThrow(/template-id and info/);
});

test('keeps the URL path as sent and adds the matcher to the rule', async () => {
  const match = { 'template-id': 'CVE-2021-41773', info: { severity: 'high' }, type: 'http', 'matcher-name': 'LFI' };
  const text = JSON.stringify({ ...match, 'matched-at': 'https://h:8443/icons/.%2e/etc/passwd?x=1' });
  const { observations } = await readAll(nuclei, fromBuffer(text));
  expect(observations[0]).toMatchObject({ rule: 'CVE-2021-41773:LFI', vulnerability_ids: ['CVE-2021-41773'] });
  expect(observations[0]?.location).toEqual({ url: 'https://h:8443/icons/.%2e/etc/passwd' });
});

test.each(['cve,kev', 'cve,vkev'])('keeps EPSS, known exploitation (%s) and a score without a vector', async (tags) => {
  const classification = { 'cvss-score': 9.8, 'epss-score': 0.97, 'epss-percentile': 0.999 };
  const info = { name: 'A', severity: 'high', tags, classification };
  const { observations } = await readAll(nuclei, fromBuffer(JSON.stringify({ 'template-id': 'CVE-2021-1', info, host: 'https://a.example.com' })));
  expect(observations).toMatchObject([{ cvss: [{ score: 9.8 }], epss: { score: 0.97, percentile: 0.999 }, known_exploited: true }]);
});
