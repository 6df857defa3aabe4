import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { detectFormat, headOf } from '../../detect.ts';
import { formats } from '../../registry.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readFixtures } from '../../testing/fixtures.ts';
import { readAll } from '../../testing/reading.ts';
import { CSV_FIELDS, JSON_FIELDS } from './fields.ts';
import { generic } from './index.ts';

async function read(name: string) {
  const fixture = readFixtures('generic').find((one) => one.name === name);
  return await readAll(generic, fromBuffer(fixture?.bytes ?? '', name));
}

test('reads every field of a JSON record', async () => {
  const { observations, rejections } = await read('findings.json');
  expect(rejections).toEqual([]);
  expect(observations[0]).toEqual({
    place: 'findings[0]',
    tool: 'pentest team',
    rule: 'PT-XSS',
    external_id: 'PT-1',
    title: 'Everything at once',
    description: 'Long text.',
    solution: 'Do it better.',
    severity: 'high',
    tool_severity: 'high',
    vulnerability_ids: ['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q'],
    cwes: [79, 80],
    cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H' }],
    references: ['https://example.com/a'],
    asset: { type: 'repository', name: 'https://git.example.com/team/app' },
    location: {
      component: 'log4j-core',
      version: '2.14.1',
      fixed_version: '2.15.0',
      purl: 'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1',
      path: 'src/app.ts',
      line: 12,
      port: 8443,
      protocol: 'tcp',
      url: 'https://app.example.com/search',
      method: 'POST',
      parameter: 'q',
      resource: 'aws_s3_bucket.logs',
    },
    present: true,
    suppressed: false,
    first_seen: new Date('2024-01-02T00:00:00Z'),
    last_seen: new Date('2024-05-06T05:08:09Z'),
    tags: ['external'],
    fix_published_date: '2021-12-10',
  });
  expect(observations[1]).toMatchObject({ tool: 'generic', rule: 'Only what has to be', external_id: null, asset: null, location: {}, severity: 'unknown' });
});

test('reads arrays and JSON Lines', async () => {
  expect((await read('array.json')).observations).toMatchObject([
    {
      place: '[0]',
      asset: { type: 'host', name: '192.0.2.7', identifiers: [{ kind: 'ip', value: '192.0.2.7' }] },
      location: { port: 22 },
      present: false,
    },
    { place: '[1]', rule: null, vulnerability_ids: ['CVE-2020-1111'], asset: { type: 'other', name: 'printer' } },
  ]);
  expect((await read('lines.ndjson')).observations).toMatchObject([
    { place: 'line 1', asset: { type: 'web_application', name: 'https://app.example.com' } },
    { place: 'line 2', cvss: [{ vector: 'AV:N/AC:L/Au:N/C:P/I:N/A:N' }] },
  ]);
});

test('reads CSV', async () => {
  expect(await read('table.csv')).toMatchObject({
    observations: [
      {
        place: 'line 2',
        title: 'SQL injection, reflected',
        severity: 'high',
        asset: { type: 'repository', name: 'https://git.example.com/team/shop' },
        cwes: [89, 564],
        location: { path: 'src/db.ts', line: 42 },
        references: ['https://example.com/a', 'https://example.com/b'],
        present: true,
      },
      { place: 'line 3', rule: null, vulnerability_ids: ['CVE-2020-8203', 'CVE-2021-23337'], asset: null, present: false },
    ],
    rejections: [],
  });
});

test('reports all problems of a record', async () => {
  const types = 'host, container_image, repository, package, web_application, cloud_resource, other';
  const { observations, rejections } = await read('malformed.json');
  expect(observations).toHaveLength(1);
  expect(rejections).toEqual([
    {
      place: '[1]',
      reason: [
        'title is missing',
        'severity must be one of critical, high, medium, low, info, unknown',
        'line must be a whole number from 1 to 2147483647',
        'cvss must be an object with vector (a CVSS vector)',
        `unknown fields: owner, Path (allowed: ${JSON_FIELDS.join(', ')})`,
      ].join('; '),
    },
    { place: '[2]', reason: 'use either asset, or asset_name and asset_type' },
    { place: '[3]', reason: `asset must be an object with name (text) and type (one of ${types})` },
    { place: '[4]', reason: 'asset_name is missing' },
    {
      place: '[5]',
      reason: [
        'title must be text',
        'cves must be a list of CVE ids',
        'cwes must be a list of CWE numbers',
        'port must be a whole number from 1 to 65535',
        'url must be an absolute URL',
        'first_seen must be an ISO 8601 date or time',
        'tags must be a list of text values',
      ].join('; '),
    },
    { place: '[6]', reason: 'the record is not an object' },
  ]);
  expect((await read('malformed.csv')).rejections).toEqual([
    { place: 'line 3', reason: 'title is missing' },
    {
      place: 'line 4',
      reason:
        'severity must be one of critical, high, medium, low, info, unknown; line must be a whole number from 1 to 2147483647; cves must be a list of CVE ids',
    },
  ]);
});

test('accepts column names in any case and rejects a row with too many cells', async () => {
  const text = 'Title,SEVERITY,Path\nA,low,src/a.ts\nB,low,src/b.ts,rest\nC,low,src/c.ts,\n';
  expect(detectFormat(formats, await headOf(fromBuffer(text)))?.id).toBe('generic');
  const { observations, rejections } = await readAll(generic, fromBuffer(text));
  expect(observations).toMatchObject([{ title: 'A', location: { path: 'src/a.ts' } }, { title: 'C' }]);
  expect(rejections).toEqual([{ place: 'line 3', reason: 'the row has more cells than columns (quote cells that contain the delimiter)' }]);
});

test('rejects a duplicate column', async () => {
  await expect(readAll(generic, fromBuffer('title,severity,tags,Tags\na,low,x,y\n'))).rejects.toThrow('Duplicate columns: Tags.');
});

test('rejects a date that does not exist', async () => {
  const record = { title: 'A', severity: 'low', first_seen: '2024-02-30' };
  const { rejections } = await readAll(generic, fromBuffer(JSON.stringify([record])));
  expect(rejections).toEqual([{ place: '[0]', reason: 'first_seen must be an ISO 8601 date or time' }]);
});

test('reports an unknown column once for the whole file', async () => {
  expect(detectFormat(formats, await headOf(fromBuffer('title,severity,owner\na,low,me\n')))?.id).toBe('generic');
  expect(detectFormat(formats, await headOf(fromBuffer('title,severity,x,y,z\na,low,1,2,3\n')))).toBeNull();
  await expect(readAll(generic, fromBuffer('title,severity,owner\na,low,me\n'))).rejects.toThrow(
    `Unknown columns: owner. Allowed columns: ${CSV_FIELDS.join(', ')}.`,
  );
});

test('accepts an empty report and rejects another file', async () => {
  for (const name of ['empty.json', 'empty-array.json', 'empty.csv']) expect(await read(name)).toMatchObject({ observations: [], rejections: [] });
  for (const foreign of ['', 'null', '{}', '{"findings":5}', '{"runs":[]}', '[{"name":"x"}]', '{"findings":[{"awsAccountId":"1"}]}', '<a/>', 'a,b\n1,2\n'])
    await expect(readAll(generic, fromBuffer(foreign)), foreign).rejects.toThrow('with records that have at least title and severity');
});

const document = readFileSync(new URL('../../../../docs/generic-format.md', import.meta.url), 'utf8');

test.each([
  ['{"findings":[{"title":"A","severity":"low","tool":"Scanner A"}]}', ['scanner a']],
  ['{"title":"A","severity":"low","tool":"a"}\n{"title":"B","severity":"low","tool":"a"}', ['a']],
  ['[{"title":"A","severity":"low","tool":"a"},{"title":"B","severity":"low","tool":"b"}]', null],
  ['title,severity,tool\nA,low,a\nB,low,a', ['a']],
  ['title,severity\nA,low', null],
  ['{"scan":{"tool":"a"},"findings":[]}', ['a']],
  ['{"scan":{"tool_version":"1"},"findings":[]}', []],
  ['{"findings":[{"title":"A tool","severity":"low"}]}', null],
])('names the tool of a report if its records do: %s', async (text, tools) => {
  expect((await generic.about?.(fromBuffer(text)))?.tools).toEqual(tools);
});

test('the examples in the documentation are detected and read', async () => {
  const examples = [...document.matchAll(/```(json|jsonl|csv)\n([\s\S]*?)```/g)].map(([, kind, text]) => ({ kind, text: text ?? '' }));
  expect(examples.map(({ kind }) => kind)).toEqual(['json', 'json', 'jsonl', 'csv']);
  for (const { text } of examples) {
    expect(detectFormat(formats, await headOf(fromBuffer(text)))?.id).toBe('generic');
    const { observations, rejections, runs } = await readAll(generic, fromBuffer(text));
    expect(rejections).toEqual([]);
    expect(observations.length + runs.length).toBeGreaterThan(0);
  }
});

test('the documentation lists every field and no other', () => {
  const [table = ''] = document.split('\n## JSON\n');
  const rows = table.split('\n').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect(named.sort()).toEqual([...JSON_FIELDS].sort());
});

test.each(['{bad json', 'oops', '{"title":"B","severity":"low"'])('rejects only the line %s', async (bad) => {
  const good = (title: string) => JSON.stringify({ title, severity: 'low' });
  const text = [good('A'), bad, good('C')].join('\n');
  expect(detectFormat(formats, await headOf(fromBuffer(text)))?.id).toBe('generic');
  const { observations, rejections } = await readAll(generic, fromBuffer(text));
  expect(observations).toMatchObject([
    { place: 'line 1', title: 'A' },
    { place: 'line 3', title: 'C' },
  ]);
  expect(rejections).toEqual([{ place: 'line 2', reason: 'the record is not valid JSON' }]);
});

test('states what the author says about the scan, anywhere in the object', async () => {
  const scan = { asset: { type: 'host', name: 'web1.example.com' }, tool_version: '2.1', started_at: '2026-11-15T08:00:00Z', finished_at: null };
  const record = { title: 'A', severity: 'low' };
  for (const report of [
    { scan, findings: [] },
    { findings: [record], scan },
  ])
    expect((await readAll(generic, fromBuffer(JSON.stringify(report)))).runs).toMatchObject([
      { tool_version: '2.1', started_at: new Date('2026-11-15T08:00:00Z') },
      { asset: { type: 'host', name: 'web1.example.com' } },
    ]);
});

test.each([
  [{ asset: 'web1' }, 'scan.asset must be an object with name'],
  [{ started_at: 'yesterday' }, 'scan.started_at must be an ISO 8601 date or time.'],
  [{ color: 'red' }, 'scan has the unknown field color. Allowed fields: asset, tool, tool_version, started_at, finished_at.'],
  ['weekly', 'scan must be an object.'],
])('rejects a report with the scan %j', async (scan, message) => {
  await expect(readAll(generic, fromBuffer(JSON.stringify({ findings: [{ title: 'A', severity: 'low' }], scan })))).rejects.toThrow(message);
});

test.each([
  ['pkg://npm/%40angular/core@17.0.0', true],
  ['pkg:npm/%40angular/core@17.0.0', true],
  ['pkg:golang/stdlib@1.22.0', true],
  ['pkg:npm/%2', false],
  ['pkg:npm/a%ZZb@1', false],
  ['pkg:maven/@1.3.4', false],
  ['pkg:npm', false],
])('the package URL %s is accepted: %s', async (purl, accepted) => {
  const text = JSON.stringify({ findings: [{ title: 'A', severity: 'low', purl }] });
  const { observations, rejections } = await readAll(generic, fromBuffer(text));
  expect(observations).toHaveLength(accepted ? 1 : 0);
  const reason = 'purl must be a package URL (pkg:type/name@version) with a name and valid percent-encoding';
  expect(rejections).toEqual(accepted ? [] : [{ place: 'findings[0]', reason }]);
});
