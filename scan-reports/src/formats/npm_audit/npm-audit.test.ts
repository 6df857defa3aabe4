import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { headOf } from '../../detect.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { npmAudit } from './index.ts';

const fixture = (name: string) => fromBuffer(readFileSync(new URL(`./fixtures/${name}`, import.meta.url)), name);

test('npm 6: reads an advisory with package, ids, patched version and dependency paths', async () => {
  const { observations, rejections } = await readAll(npmAudit, fixture('npm-6.json'));
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(4);
  // Numeric keys keep the order of the file.
  expect(observations[0]).toEqual({
    place: 'advisories.146',
    tool: 'npm audit',
    rule: '146',
    external_id: null,
    title: 'Command Injection',
    description: 'Input reaches a shell.\n\nRequired by:\nmocha>growl (1.9.2)\ngulp>mocha>growl (1.9.2)',
    solution: 'Update to version 1.10.2 or later.',
    severity: 'critical',
    tool_severity: 'critical',
    vulnerability_ids: ['CVE-2017-16042'],
    cwes: [94],
    cvss: [],
    references: ['https://www.npmjs.com/advisories/146', 'https://git.example.com/growl/issues/60', 'https://git.example.com/growl/pull/61'],
    asset: null,
    location: { component: 'growl', version: '1.9.2', fixed_version: '1.10.2', ecosystem: 'npm' },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: null,
    tags: [],
  });
  expect(observations[1]).toMatchObject({ place: 'advisories.146', location: { component: 'growl', version: '1.8.0' } });
  expect(observations[1]?.description).toContain('old-mocha>growl (1.8.0)');
  expect(observations[2]).toMatchObject({
    rule: 'GHSA-93q8-gq69-wqmw',
    severity: 'medium',
    tool_severity: 'moderate',
    vulnerability_ids: ['CVE-2021-3807', 'GHSA-93q8-gq69-wqmw'],
    cwes: [697, 1333],
    cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H', score: 7.5 }],
    location: { component: 'ansi-regex', version: '3.0.0', fixed_version: '4.1.1, 5.0.1' },
  });
  expect(observations[3]).toMatchObject({ rule: '7', cwes: [], location: { component: 'nopatch' }, severity: 'low' });
  expect(observations[3]?.location).not.toHaveProperty('fixed_version');
});

test('npm 7 and later: reads one observation per advisory and folder, and one for a package that only depends on vulnerable packages', async () => {
  const { observations, rejections } = await readAll(npmAudit, fixture('npm-7.json'));
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(5);
  expect(observations[0]).toMatchObject({
    place: 'vulnerabilities.@example/runner',
    rule: 'metavuln',
    title: 'Depends on vulnerable versions of debug',
    description: null,
    solution: 'Upgrade @example/runner to 2.0.0 (a new major version)',
    severity: 'high',
    vulnerability_ids: [],
    location: { component: '@example/runner', fixed_version: '2.0.0', ecosystem: 'npm', path: 'node_modules/@example/runner' },
    tags: ['direct'],
  });
  expect(observations[1]).toMatchObject({
    place: 'vulnerabilities.debug.via[0]',
    rule: 'GHSA-gxpj-cx7g-858c',
    title: 'Regular Expression Denial of Service in debug',
    description: null,
    solution: 'npm audit fix',
    severity: 'medium',
    tool_severity: 'moderate',
    vulnerability_ids: ['GHSA-gxpj-cx7g-858c'],
    cwes: [400],
    cvss: [{ vector: 'CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:L', score: 5.3 }],
    references: ['https://github.com/advisories/GHSA-gxpj-cx7g-858c'],
    location: { component: 'debug', fixed_version: '2.6.9, 3.1.0', path: 'node_modules/a/node_modules/debug' },
  });
  expect(observations[2]).toMatchObject({ place: 'vulnerabilities.debug.via[0]', location: { path: 'node_modules/debug' } });
  expect(observations[3]).toMatchObject({
    place: 'vulnerabilities.debug.via[2]',
    rule: 'GHSA-9vvw-cc9w-f27h',
    severity: 'high',
    cvss: [],
    location: { component: 'debug' },
  });
});

test('pnpm: reads advisories and rejects malformed ones', async () => {
  const { observations, rejections } = await readAll(npmAudit, fixture('pnpm-malformed.json'));
  expect(rejections).toEqual([
    { place: 'advisories.1', reason: 'the package name is missing' },
    { place: 'advisories.2', reason: 'the record is not an object' },
    { place: 'advisories.3', reason: 'the advisory id is missing' },
  ]);
  expect(observations).toHaveLength(1);
  expect(observations[0]).toMatchObject({
    rule: 'GHSA-2222-3333-4444',
    vulnerability_ids: ['GHSA-2222-3333-4444'],
    location: { component: 'left-pad', version: '1.2.0', fixed_version: '1.3.0' },
  });
});

test('Yarn 1: reads one line per dependency path with the version of that path', async () => {
  const { observations, rejections } = await readAll(npmAudit, fixture('yarn-1.jsonl'));
  expect(rejections).toEqual([{ place: 'line 3', reason: 'the package name is missing' }]);
  expect(observations).toHaveLength(1);
  expect(observations[0]).toMatchObject({
    place: 'line 2',
    tool: 'yarn audit',
    rule: 'GHSA-93q8-gq69-wqmw',
    description: 'Slow.\n\nRequired by:\ngulp>strip-ansi>ansi-regex (4.1.0)',
    severity: 'high',
    location: { component: 'ansi-regex', version: '4.1.0', fixed_version: '5.0.1' },
    tags: ['dev'],
  });
});

test('reads Yarn 4 and Bun', async () => {
  const yarn = await readAll(npmAudit, fixture('yarn-4.jsonl'));
  expect(yarn.rejections).toEqual([]);
  expect(yarn.observations.map(({ place, rule, severity, vulnerability_ids, location }) => ({ place, rule, severity, vulnerability_ids, location }))).toEqual([
    {
      place: 'line 1',
      rule: 'GHSA-xvch-5gv4-984h',
      severity: 'critical',
      vulnerability_ids: ['GHSA-xvch-5gv4-984h'],
      location: { component: 'minimist', version: '0.0.8', fixed_version: '0.2.4', ecosystem: 'npm' },
    },
    {
      place: 'line 1',
      rule: 'GHSA-xvch-5gv4-984h',
      severity: 'critical',
      vulnerability_ids: ['GHSA-xvch-5gv4-984h'],
      location: { component: 'minimist', version: '0.1.0', fixed_version: '0.2.4', ecosystem: 'npm' },
    },
    {
      place: 'line 2',
      rule: 'deprecation',
      severity: 'medium',
      vulnerability_ids: [],
      location: { component: 'uuid', version: '3.4.0', ecosystem: 'npm' },
    },
  ]);
  expect(yarn.observations[0]?.description).toBe('Required by: mkdirp@npm:0.5.1');
  const bun = await readAll(npmAudit, fixture('bun.json'));
  expect(bun.observations[0]).toMatchObject({
    place: 'minimist[0]',
    rule: 'GHSA-xvch-5gv4-984h',
    cwes: [1321],
    location: { component: 'minimist', fixed_version: '0.2.4' },
  });
});

test('is detected if a long list of actions comes before the advisories', async () => {
  const resolves = Array.from({ length: 2_000 }, (_, id) => ({ id, path: 'a>b>c', dev: false }));
  const report = { actions: [{ module: 'a', resolves }], advisories: { 1: { id: 1, module_name: 'c', severity: 'info' } }, muted: [] };
  const input = fromBuffer(JSON.stringify(report));
  expect(npmAudit.detect(await headOf(input))).toBe(true);
  expect((await readAll(npmAudit, input)).observations).toMatchObject([{ rule: '1', severity: 'info', location: { component: 'c' } }]);
});

test('accepts an audit without findings and rejects a failed audit and other files', async () => {
  for (const name of ['empty-npm-6.json', 'empty-npm-7.json'])
    expect(await readAll(npmAudit, fixture(name))).toMatchObject({ observations: [], rejections: [] });
  await expect(readAll(npmAudit, fromBuffer('{"error":{"code":"ENOLOCK","summary":"This command requires a lockfile.","detail":""}}'))).rejects.toThrow(
    new ReportError('The audit failed: ENOLOCK: This command requires a lockfile.'),
  );
  await expect(readAll(npmAudit, fromBuffer('{"type":"auditSummary","data":{}}\n{"type":"error","data":"no network"}\n'))).rejects.toThrow('no network');
  for (const foreign of ['{"vulnerabilities":[],"ok":true}', '[]', '<a/>', '', '{"error":null}'])
    await expect(readAll(npmAudit, fromBuffer(foreign))).rejects.toThrow(/Expected JSON of npm audit/);
});

test('npm 7 and later: states whether there is a fix', async () => {
  const entry = (fixAvailable: unknown) => ({
    name: 'a',
    severity: 'low',
    via: [{ source: 1, title: 'A', url: 'https://github.com/advisories/GHSA-2222-3333-4444' }],
    fixAvailable,
  });
  const vulnerabilities = { a: entry(false), b: entry(true), c: entry({ name: 'a', version: '2.0.0' }), d: entry(undefined) };
  const { observations } = await readAll(npmAudit, fromBuffer(JSON.stringify({ auditReportVersion: 2, vulnerabilities })));
  expect(observations.map(({ fix_state }) => fix_state)).toEqual(['not_available', 'available', 'available', undefined]);
});

test('states how many dependencies were checked, because the report does not name the lock file', async () => {
  const runs = async (report: object | string) => (await readAll(npmAudit, fromBuffer(typeof report === 'string' ? report : JSON.stringify(report)))).runs;
  expect(await runs({ auditReportVersion: 2, vulnerabilities: {}, metadata: { dependencies: { prod: 3, total: 12 } } })).toEqual([{ dependencies: 12 }]);
  expect(await runs({ advisories: {}, metadata: { dependencies: 3, totalDependencies: 12 } })).toEqual([{ dependencies: 12 }]);
  expect(await runs('{"type":"auditSummary","data":{"totalDependencies":12}}\n')).toEqual([{ dependencies: 12 }]);
});

test('npm 7 and later: says which severities packages that are not listed may have', async () => {
  const listed = (...severities: string[]) => Object.fromEntries(severities.map((severity, index) => [`p${index}`, { name: `p${index}`, severity, via: [] }]));
  const leftOut = async (vulnerabilities: object, counts: object) => {
    const metadata = { vulnerabilities: { info: 0, low: 0, moderate: 0, high: 0, critical: 0, total: 0, ...counts } };
    return (await readAll(npmAudit, fromBuffer(JSON.stringify({ auditReportVersion: 2, vulnerabilities, metadata })))).runs.flatMap(
      ({ left_out = [] }) => left_out,
    );
  };
  expect(await leftOut(listed('high', 'moderate'), { high: 1, moderate: 1, total: 2 })).toEqual([]);
  expect(await leftOut(listed('high', 'high'), { high: 1 })).toEqual([]);
  // A package counts with its worst advisory and may have milder ones.
  expect(await leftOut(listed('high', 'moderate'), { high: 2, moderate: 1 })).toEqual(['high', 'medium', 'low', 'info']);
  expect(await leftOut(listed('high', 'low'), { high: 1, low: 2 })).toEqual(['low', 'info']);
  expect(await leftOut(listed('low'), { critical: 1, low: 2 })).toEqual(['critical', 'high', 'medium', 'low', 'info']);
  expect(await leftOut({}, { info: 1 })).toEqual(['info']);
});

test('npm 6: counts paths, so a severity is not shown only if none of it is listed', async () => {
  const advisories = { 1: { id: 1, module_name: 'a', severity: 'high' } };
  const metadata = { vulnerabilities: { high: 5, moderate: 1, low: 0 } };
  expect((await readAll(npmAudit, fromBuffer(JSON.stringify({ advisories, metadata })))).runs).toEqual([{ left_out: ['medium'] }]);
});
