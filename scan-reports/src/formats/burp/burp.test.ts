import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { burp } from './index.ts';

const read = (name: string) => readAll(burp, fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name));

test('reads an issue with type, location, insertion point and classifications', async () => {
  const { observations, rejections } = await read('issues.xml');
  expect(rejections).toEqual([{ place: 'issue[3]', reason: 'the host is missing' }]);
  expect(observations).toHaveLength(2);
  expect(observations[0]).toEqual({
    place: 'issue[1]',
    tool: 'burp',
    rule: '1049088',
    external_id: null,
    title: 'SQL injection',
    description: 'The id parameter.\n\nQueries are built from input.',
    solution: 'Use prepared statements.',
    severity: 'high',
    tool_severity: 'High',
    vulnerability_ids: [],
    cwes: [89, 94],
    cvss: [],
    references: ['https://portswigger.example/sqli', 'https://cwe.example.org/89'],
    asset: { type: 'web_application', name: 'https://app.example.com:8443', identifiers: [{ kind: 'fqdn', value: 'app.example.com' }] },
    location: { url: 'https://app.example.com:8443/item', parameter: 'id' },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: new Date('2026-02-01T09:00:00Z'),
    tags: [],
  });
});

test('uses the name as rule for issues of extensions, and suppresses false positives', async () => {
  const { observations } = await read('issues.xml');
  expect(observations[1]).toMatchObject({
    rule: 'Vulnerable library',
    severity: 'info',
    suppressed: true,
    vulnerability_ids: ['CVE-2020-11022'],
    description: 'jQuery is affected by CVE-2020-11022.\n\n- version 1.2',
    location: { url: 'https://app.example.com:8443/jquery.js', parameter: 'Referer HTTP header' },
  });
});

test('reads found issues from the events of the REST API', async () => {
  const { observations, rejections } = await read('rest.json');
  expect(rejections).toEqual([{ place: 'issue_events[2]', reason: 'the host is missing' }]);
  expect(observations).toMatchObject([
    {
      place: 'issue_events[0]',
      rule: '5243392',
      external_id: null,
      title: 'TLS cookie without secure flag set',
      description: 'A cookie\n- sid\nhas no secure flag.',
      severity: 'low',
      asset: { name: 'https://app.example.com' },
      location: { url: 'https://app.example.com/login' },
    },
    { rule: '5243136', severity: 'info', suppressed: true, location: { url: 'https://app.example.com/go', parameter: 'to' } },
  ]);
});

test('reads GraphQL issues and rejects one without a name', async () => {
  const { observations, rejections } = await read('graphql.json');
  expect(rejections).toEqual([{ place: 'Issues[1]', reason: 'the issue name is missing' }]);
  expect(observations).toMatchObject([
    {
      place: 'Issues[0]',
      rule: '16777472',
      title: 'TLS certificate',
      severity: 'medium',
      cwes: [295],
      solution: 'Renew it.',
      location: { url: 'https://app.example.com/' },
    },
  ]);
});

test('reads an unchanged GraphQL response', async () => {
  const { observations } = await read('graphql-answer.json');
  expect(observations).toMatchObject([
    { place: 'data.scan.issues[0]', rule: 'Cacheable HTTPS response', severity: 'info', location: { url: 'https://app.example.com/a' } },
  ]);
});

test('reads failures of Dastardly without the evidence', async () => {
  const { observations, rejections } = await read('dastardly.xml');
  expect(rejections).toEqual([{ place: 'testsuite[2]/testcase[2]/failure[1]', reason: 'the failure is empty' }]);
  expect(observations).toMatchObject([
    {
      place: 'testsuite[2]/testcase[1]/failure[1]',
      rule: 'Cross-site scripting (reflected)',
      severity: 'high',
      description: 'The payload <script>alert(1)</script> was echoed.\n\nInput is echoed.',
      solution: 'Encode it.',
      cwes: [79],
      references: ['https://portswigger.example/xss', 'https://cwe.example.org/79'],
      asset: { type: 'web_application', name: 'https://shop.example.com' },
      location: { url: 'https://shop.example.com/catalog' },
    },
  ]);
  expect(JSON.stringify(observations)).not.toContain('s3cr3t-value');
});

test('accepts an export without issues', async () => {
  expect(await read('empty.xml')).toMatchObject({ observations: [], rejections: [] });
  expect(await read('empty-graphql.json')).toMatchObject({ observations: [], rejections: [] });
});

test.each(['<testsuites name="unit tests"><testsuite/></testsuites>', '<issues><issue/></issues>', '{"Issues":[],"Stats":{}}', '{"data":{}}'])(
  'another file is refused: %s',
  async (text) => {
    await expect(readAll(burp, fromBuffer(text))).rejects.toThrow(ReportError);
    await expect(readAll(burp, fromBuffer(text))).rejects.toThrow(/burpVersion/);
  },
);

test('states version and time of the export', async () => {
  const text = '<issues burpVersion="2025.1.2" exportTime="Sun Feb 01 09:00:00 UTC 2026"></issues>';
  expect((await readAll(burp, fromBuffer(text))).runs).toEqual([{ tool_version: '2025.1.2', finished_at: new Date('2026-02-01T09:00:00Z') }]);
});

test.each([
  ['CEST', '2024-09-14T06:00:00Z', '2024-09-14T06:00:00Z'],
  ['IST', '2024-09-14T02:30:00Z', '2024-09-14T07:00:00Z'],
  ['XYZT', '2024-09-13T18:00:00Z', '2024-09-14T20:00:00Z'],
  ['GMT+05:30', '2024-09-14T02:30:00Z', '2024-09-14T02:30:00Z'],
])('an export in %s shows its issues at the latest moment that this can be, and proves an absence at the earliest', async (zone, earliest, latest) => {
  const issue = '<issue><type>1</type><name>A</name><host>https://shop.example.com</host></issue>';
  const { observations, runs } = await readAll(burp, fromBuffer(`<issues burpVersion="1" exportTime="Sat Sep 14 08:00:00 ${zone} 2024">${issue}</issues>`));
  expect(observations[0]?.last_seen).toEqual(new Date(latest));
  expect(runs).toEqual([{ tool_version: '1', [earliest === latest ? 'finished_at' : 'started_at']: new Date(earliest) }]);
});

test('names the product that wrote the file, each of which looks for different things', async () => {
  const toolsOf = async (text: string) => (await burp.about?.(fromBuffer(text)))?.tools;
  expect(await toolsOf('<issues burpVersion="2025.1"></issues>')).toBe(null);
  expect(await toolsOf('<testsuites name="Dastardly scan results"></testsuites>')).toEqual(['dastardly']);
  expect(await toolsOf('<testsuites name="Burp Scan results"></testsuites>')).toEqual(['burp ci']);
  expect(await toolsOf('{"issue_events": []}')).toEqual(['burp rest api']);
  expect(await toolsOf('{"Issues": []}')).toEqual(['burp graphql api']);
});
