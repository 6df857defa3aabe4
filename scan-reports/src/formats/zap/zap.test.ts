import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { zap } from './index.ts';

const read = (name: string) => readAll(zap, fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name));

test('reads one observation per URL, method and parameter of an alert', async () => {
  const { observations, rejections } = await read('traditional.xml');
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(4);
  expect(observations[0]).toEqual({
    place: 'site[1]/alerts[1]/alertitem[1]',
    tool: 'zap',
    rule: '40018',
    external_id: null,
    title: 'SQL Injection',
    description: 'SQL injection may be possible.\n\nAttack: 1 OR 1=1',
    solution: 'Use prepared statements.',
    severity: 'high',
    tool_severity: 'High (Medium)',
    vulnerability_ids: [],
    cwes: [89],
    cvss: [],
    references: ['https://owasp.example.org/sqli', 'https://cwe.example.org/89'],
    asset: { type: 'web_application', name: 'https://shop.example.com:8443', identifiers: [{ kind: 'fqdn', value: 'shop.example.com' }] },
    location: { url: 'https://shop.example.com:8443/item', method: 'GET', parameter: 'id' },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: new Date('2026-02-01T09:00:00Z'),
    tags: ['OWASP_2021_A03'],
  });
  expect(observations[1]).toMatchObject({
    place: 'site[1]/alerts[1]/alertitem[1]',
    rule: '40018',
    description: 'SQL injection may be possible.',
    location: { url: 'https://shop.example.com:8443/cart', method: 'POST' },
  });
  expect(observations[1]?.location).not.toHaveProperty('parameter');
});

test('states version, time and every site of the run', async () => {
  const facts = { tool_version: '2.16.1', finished_at: new Date('2026-02-01T09:00:00Z') };
  expect((await read('traditional.xml')).runs).toMatchObject([
    facts,
    { asset: { name: 'https://shop.example.com:8443' } },
    { asset: { name: 'http://static.example.com' } },
  ]);
  expect((await read('traditional.json')).runs).toMatchObject([facts, { asset: { name: 'https://app.example.com' } }]);
  const clean = '<OWASPZAPReport version="2.16.1"><site name="https://app.example.com"><alerts></alerts></site></OWASPZAPReport>';
  expect((await readAll(zap, fromBuffer(clean))).runs).toMatchObject([
    { tool_version: '2.16.1' },
    { asset: { type: 'web_application', name: 'https://app.example.com' } },
  ]);
});

test('reads instances with missing elements, and only one of those that differ by query', async () => {
  const instances = [
    '<instance><method>GET</method></instance>',
    '<instance><uri>https://a.example.com/x?n=1</uri><param>q</param></instance>',
    '<instance><uri>https://a.example.com/x?n=2</uri><param>q</param><attack>later</attack></instance>',
    '<instance><uri>https://a.example.com/y</uri><method>PUT</method></instance>',
  ];
  const text = `<OWASPZAPReport><site name="https://a.example.com"><alerts><alertitem><pluginid>1</pluginid><alert>A</alert><instances>${instances.join('')}</instances></alertitem></alerts></site></OWASPZAPReport>`;
  const { observations } = await readAll(zap, fromBuffer(text));
  expect(observations.map(({ location: { url, method, parameter } }) => [url, method, parameter])).toEqual([
    ['https://a.example.com/', 'GET', undefined],
    ['https://a.example.com/x', undefined, 'q'],
    ['https://a.example.com/y', 'PUT', undefined],
  ]);
});

test('reads confidence 0 as a false positive and CWE -1 as no CWE', async () => {
  const { observations } = await read('traditional.xml');
  expect(observations[2]).toMatchObject({ rule: '10055-4', severity: 'medium', suppressed: true, cwes: [] });
  expect(observations[3]).toMatchObject({ severity: 'info', asset: { name: 'http://static.example.com' }, location: { url: 'http://static.example.com/' } });
});

test('does not keep requests, or evidence that may be a secret', async () => {
  for (const name of ['traditional.xml', 'traditional.json']) expect(JSON.stringify(await read(name))).not.toContain('s3cr3t-value');
});

test('separates old alerts of one plugin by name and rejects an alert without a plugin', async () => {
  const { observations, rejections } = await read('old-malformed.xml');
  expect(rejections).toEqual([{ place: 'site[1]/alerts[1]/alertitem[3]', reason: 'pluginid is missing' }]);
  expect(observations.map(({ rule, location }) => [rule, location.fingerprint])).toEqual([
    ['10055', 'CSP Scanner: Wildcard Directive'],
    ['10055', 'CSP Scanner: style-src unsafe-inline'],
  ]);
});

test('reads the same findings from JSON, with site names anywhere in the file', async () => {
  const { observations, rejections } = await read('traditional.json');
  expect(rejections).toEqual([
    { place: 'site[0].alerts[1]', reason: 'pluginid is missing' },
    { place: 'site[0].alerts[2]', reason: 'the record is not an object' },
  ]);
  expect(observations).toMatchObject([
    {
      place: 'site[0].alerts[0]',
      rule: '10035-1',
      title: 'Strict-Transport-Security Header Not Set',
      description: 'HSTS is missing.',
      location: { url: 'https://app.example.com/a', method: 'GET' },
      severity: 'low',
      cwes: [319],
      references: ['https://hsts.example.org'],
      asset: { type: 'web_application', name: 'https://app.example.com' },
      last_seen: new Date('2026-02-01T09:00:00Z'),
      tags: ['OWASP_2021_A05'],
    },
  ]);
});

test('reads a single site of old versions, which is not a list', async () => {
  const { observations } = await read('single-site.json');
  expect(observations).toMatchObject([{ place: 'site.alerts[0]', rule: '10010', severity: 'low', asset: { name: 'http://192.0.2.50:8080' } }]);
});

test('accepts reports without alerts', async () => {
  expect(await read('empty.xml')).toMatchObject({ observations: [], rejections: [] });
  expect(await read('empty.json')).toMatchObject({ observations: [], rejections: [] });
});

test('does not detect a GitLab report that contains a ZAP report, and rejects other files', async () => {
  for (const text of ['{"@programName":"ZAP","site":[],"vulnerabilities":[],"scan":{}}', '<issues/>', '{"site":"x"}']) {
    await expect(readAll(zap, fromBuffer(text))).rejects.toThrow(ReportError);
  }
  await expect(readAll(zap, fromBuffer('<issues/>'))).rejects.toThrow(/OWASPZAPReport/);
});

test('reads an alert with responses of any size', async () => {
  const answer = 'x'.repeat(1024 * 1024);
  const instance = `<instance><uri>https://app.example.com/</uri><method>GET</method><param></param><responsebody>${answer}</responsebody></instance>`;
  const text = `<OWASPZAPReport><site name="https://app.example.com"><alerts><alertitem><pluginid>1</pluginid><alert>A</alert><riskcode>1</riskcode><instances>${instance.repeat(20)}</instances></alertitem></alerts></site></OWASPZAPReport>`;
  const { observations } = await readAll(zap, fromBuffer(text));
  expect(observations).toMatchObject([{ rule: '1', description: null, location: { url: 'https://app.example.com/', method: 'GET' } }]);
});

test('names the alerts of which it may not list all URLs of a site', async () => {
  const alert = (pluginid: string, more: object) => ({ pluginid, alert: 'A', instances: [{ uri: 'https://a.example.com/x' }], ...more });
  const alerts = [
    alert('1', { alertRef: '1-2', count: '2' }),
    alert('2', { count: '1', systemic: 'true' }),
    alert('3', { count: '1', systemic: false }),
    alert('4', {}),
    alert('5', { count: 'x' }),
  ];
  // 1 may be what 1-2 was called before.
  const skipped = ['1-2', '1', '2'].map((rule) => ({ rule, path: 'https://a.example.com' }));
  const json = JSON.stringify({
    '@programName': 'ZAP',
    site: [
      { '@name': 'https://a.example.com', alerts },
      { '@name': 'https://b.example.com', alerts: [null, alert('1', { count: 1 })] },
    ],
  });
  expect(await zap.about?.(fromBuffer(json))).toEqual({ tools: null, finished: true, unread: [], skipped });
  const xml = alerts.map(({ instances: [instance], ...fields }) => {
    const texts = Object.entries(fields).map(([name, text]) => `<${name}>${text}</${name}>`);
    return `<alertitem>${texts.join('')}<instances><instance><uri>${instance?.uri}</uri></instance></instances></alertitem>`;
  });
  const report = `<OWASPZAPReport><site name="https://a.example.com"><alerts>${xml.join('')}</alerts></site></OWASPZAPReport>`;
  expect(await zap.about?.(fromBuffer(report))).toEqual({ tools: null, finished: true, unread: [], skipped });
  for (const whole of ['{"site":"x"}', '<OWASPZAPReport/>']) expect(await zap.about?.(fromBuffer(whole))).toEqual({ tools: null, finished: true, unread: [] });
});
