import { expect, test } from 'vitest';
import { headOf } from '../../detect.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readFixtures } from '../../testing/fixtures.ts';
import { readAll } from '../../testing/reading.ts';
import { semgrep } from './index.ts';

const fixtures = new Map(readFixtures('semgrep').map(({ name, bytes }) => [name, bytes]));
const read = (name: string) => readAll(semgrep, fromBuffer(fixtures.get(name) ?? '', name));

test('reads results of the CLI', async () => {
  const { observations, rejections } = await read('cli-1.json');
  expect(rejections).toEqual([]);
  expect(observations[0]).toEqual({
    place: 'results[0]',
    tool: 'semgrep',
    rule: 'python.lang.security.made-up.sql-string',
    external_id: null,
    title: 'User input reaches a SQL statement.',
    description: 'User input reaches a SQL statement. Use parameters instead, e.g. of the driver.',
    solution: 'cursor.execute(query, (name,))',
    severity: 'high',
    tool_severity: 'ERROR',
    vulnerability_ids: [],
    cwes: [89],
    cvss: [],
    references: ['https://docs.example.com/sql', 'https://sg.run/made-up'],
    asset: null,
    location: { path: 'app/db.py', line: 31, end_line: 33, fingerprint: '0a1b2c3d4e5f_0', snippet: 'cursor.execute(query % name)' },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: null,
    tags: ['security', 'python', 'SQL Injection'],
  });
});

test('masks a secret that was found', async () => {
  const { observations } = await read('cli-1.json');
  expect(observations[1]).toMatchObject({
    rule: 'generic.secrets.made-up.detected-token',
    title: 'The token *** is hard-coded.',
    solution: null,
    severity: 'critical',
    cwes: [798],
    suppressed: true,
    tags: ['secret', 'secrets', 'confirmed_valid'],
  });
  expect(observations[1]?.location).toEqual({ path: 'config/prod.env', line: 2, end_line: 2 });
  expect(JSON.stringify(observations)).not.toContain('made-up-token-value');
});

test('reads vulnerable dependencies', async () => {
  const { observations } = await read('cli-1.json');
  expect(observations[2]).toMatchObject({
    rule: 'ssc-00000000-0000-4000-8000-000000000001',
    severity: 'critical',
    tool_severity: 'CRITICAL',
    vulnerability_ids: ['CVE-2021-44228', 'GHSA-2222-3333-4444'],
    cwes: [1321],
    location: {
      component: 'made-up-json',
      version: '2.0.1',
      fixed_version: '2.0.4, 1.9.9',
      path: 'web/package-lock.json',
      line: 120,
      fingerprint: 'ffee_0',
    },
    tags: ['unreachable', 'transitive'],
  });
});

test('reads results of old versions', async () => {
  const { observations } = await read('cli-0.json');
  expect(observations).toMatchObject([
    { rule: 'java.made-up.weak-cipher', severity: 'medium', cwes: [327], location: { path: 'src/Cipher.java', line: 64 } },
    { rule: 'java.made-up.note', title: 'Worth a look', severity: 'low', tool_severity: 'INFO' },
  ]);
});

test('reads findings of the platform', async () => {
  const { observations, rejections } = await read('platform-findings.json');
  expect(rejections).toEqual([]);
  const asset = { type: 'repository', name: 'https://git.example.com/example/shop' };
  expect(observations).toMatchObject([
    {
      place: 'findings[0]',
      rule: 'typescript.made-up.no-plain-http',
      external_id: '1001',
      title: 'This link is not encrypted.',
      severity: 'medium',
      cwes: [319],
      asset,
      location: { path: 'src/index.ts', line: 12, end_line: 14, fingerprint: 'bbbb_0' },
      present: true,
      suppressed: false,
      first_seen: new Date('2024-03-04T05:06:07Z'),
    },
    {
      external_id: '1002',
      vulnerability_ids: ['CVE-2022-31129'],
      severity: 'high',
      asset,
      location: { component: 'made-up-parser', version: '2.29.2', fixed_version: '2.29.4', path: 'package-lock.json', line: 77 },
      present: true,
      suppressed: true,
    },
    {
      rule: 'aBcDeF1',
      external_id: '1003',
      title: 'Secret: Made-up Cloud',
      severity: 'critical',
      cwes: [798],
      asset,
      location: { path: 'src/cloud.py', line: 232 },
      present: false,
      suppressed: false,
      tags: ['secret', 'confirmed_valid'],
    },
  ]);
});

test('reads vulnerabilities of the older supply chain API', async () => {
  const { observations, rejections } = await read('platform-vulns.json');
  expect(rejections).toEqual([]);
  expect(observations).toMatchObject([
    {
      place: 'vulns[0]',
      rule: 'ssc-00000000-0000-4000-8000-000000000003',
      severity: 'high',
      vulnerability_ids: ['CVE-2023-37897'],
      cwes: [617],
      asset: { type: 'repository', name: 'https://git.example.com/example/api' },
      location: { component: 'made-up-go', version: '1.7.0', fixed_version: '1.7.42', path: 'go.mod', line: 111 },
      present: true,
      suppressed: false,
      tags: ['reachable', 'direct'],
    },
  ]);
});

test('rejects malformed results and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(rejections).toEqual([
    { place: 'results[0]', reason: 'check_id is missing' },
    { place: 'results[1]', reason: 'path is missing' },
    { place: 'results[2]', reason: 'check_id is missing' },
  ]);
  expect(observations).toMatchObject([{ rule: 'made-up.bare', title: 'made-up.bare', severity: 'unknown', location: { path: 'b.py' } }]);
});

test('accepts reports without findings and rejects another file', async () => {
  expect(await read('empty.json')).toMatchObject({ observations: [], rejections: [] });
  expect(await readAll(semgrep, fromBuffer('{"findings": []}'))).toMatchObject({ observations: [], rejections: [] });
  await expect(readAll(semgrep, fromBuffer('{"check_type": "terraform", "results": {"failed_checks": []}}'))).rejects.toThrow(/check_id, path and extra/);
  await expect(readAll(semgrep, fromBuffer('[]'))).rejects.toThrow(/Expected/);
});

test('reports files that were not or not fully scanned as unread', async () => {
  const about = (report: object) => semgrep.about?.(fromBuffer(JSON.stringify({ results: [], errors: [], paths: { scanned: [] }, ...report })));
  expect(await about({})).toEqual({ tools: null, finished: true, unread: [] });
  const errors = [
    { code: 3, level: 'warn', type: ['PartialParsing', []], path: './src/a.ts' },
    { level: 'error', type: 'Timeout', rule_id: 'r', location: { path: 'src\\b.ts' } },
    { level: 'warn', message: 'a newer version is there' },
  ];
  const skipped = [
    { path: 'src/big.js', reason: 'too_big' },
    { path: 'src/c.py', reason: 'irrelevant_rule', rule_id: 'r' },
    { path: 'src/c.py', reason: 'wrong_language', rule_id: 'r' },
  ];
  expect(await about({ errors, paths: { skipped } })).toEqual({ tools: null, finished: true, unread: ['src/a.ts', 'src/b.ts', 'src/big.js'] });
  // The position is that in the file with the rules.
  const skipped_rules = [{ rule_id: 'made-up.newer', details: 'requires version 99', position: { line: 3, col: 1, offset: 20 } }];
  const notRun = [
    { level: 'info', type: ['IncompatibleRule', { rule_id: 'made-up.older' }], rule_id: 'made-up.older' },
    { level: 'warn', type: 'Rule parse error', rule_id: 'broken', path: 'rules/own.yaml' },
  ];
  expect(await about({ skipped_rules, errors: notRun })).toEqual({
    tools: null,
    finished: true,
    unread: [],
    skipped: expect.arrayContaining(['made-up.newer', 'made-up.older', 'broken'].map((rule) => ({ rule, path: null }))),
  });
  expect(await about({ errors: [{ level: 'error', type: 'Rule parse error' }] })).toMatchObject({ finished: false });
  expect(await about({ errors: [{ level: 'error', type: 'FatalError' }] })).toEqual({ tools: null, finished: false, unread: [] });
});

test('is detected if a long list of errors comes first', async () => {
  const errors = Array.from({ length: 1_000 }, (_, index) => ({ code: 3, level: 'warn', type: 'Timeout', path: `src/${index}.ts`, message: 'x'.repeat(100) }));
  const input = fromBuffer(JSON.stringify({ errors, paths: { scanned: [] }, results: [] }));
  expect(semgrep.detect(await headOf(input))).toBe(true);
  expect((await semgrep.about?.(input))?.unread).toHaveLength(1_000);
});

test('states version and scanned files of the run', async () => {
  const paths = { scanned: ['./src/a.ts', 'src\\b.ts', 'src/a.ts'] };
  const report = (more: object) => fromBuffer(JSON.stringify({ version: '1.90.0', results: [], errors: [], ...more }));
  expect((await readAll(semgrep, report({ paths }))).runs).toEqual([{ tool_version: '1.90.0', files: ['src/a.ts', 'src/b.ts'] }]);
  expect((await readAll(semgrep, report({ paths: { scanned: ['a.ts', null] } }))).runs).toEqual([{ tool_version: '1.90.0' }]);
  expect((await readAll(semgrep, report({}))).runs).toEqual([{ tool_version: '1.90.0' }]);
});

test.each([
  ['ids', ['python.lang.eval', 'rules.own'], ['python.lang.eval', 'rules.own']],
  ['objects of older versions', [{ id: 'python.lang.eval' }, { id: 'rules.own' }], ['python.lang.eval', 'rules.own']],
  ['none, as without --time', [], undefined],
  ['something else', ['python.lang.eval', 7, {}], undefined],
])('states the rules of the run: %s', async (_, rules, checks) => {
  const report = { version: '1.90.0', results: [], errors: [], paths: { scanned: ['a.py'] }, time: { rules, rules_parse_time: 0.1, targets: [] } };
  const [run] = (await readAll(semgrep, fromBuffer(JSON.stringify(report)))).runs;
  expect(run?.checks).toEqual(checks);
});

test('keeps the matched code except for secrets and without an account', async () => {
  const result = (extra: object) => ({ check_id: 'r', path: 'a.ts', extra: { severity: 'INFO', ...extra } });
  const results = [
    result({ lines: '  eval(\n    input)' }),
    result({ lines: 'requires login' }),
    result({ lines: 'token = "made-up"', metadata: { cwe: 'CWE-798' } }),
    result({ lines: 'x'.repeat(2_000) }),
  ];
  const { observations } = await readAll(semgrep, fromBuffer(JSON.stringify({ results, errors: [] })));
  expect(observations.map(({ location }) => location.snippet)).toEqual(['eval( input)', undefined, undefined, 'x'.repeat(500)]);
});

test('findings of the platform name the branch', async () => {
  expect((await read('platform-findings.json')).observations[0]?.asset).toMatchObject({ type: 'repository', ref: 'refs/heads/main' });
});
