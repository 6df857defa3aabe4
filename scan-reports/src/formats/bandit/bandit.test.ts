import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readFixtures } from '../../testing/fixtures.ts';
import { readAll } from '../../testing/reading.ts';
import { bandit } from './index.ts';

const fixtures = new Map(readFixtures('bandit').map(({ name, bytes }) => [name, bytes]));
const read = (name: string) => readAll(bandit, fromBuffer(fixtures.get(name) ?? '', name));

test('reads issues', async () => {
  const { observations, rejections } = await read('report.json');
  expect(rejections).toEqual([]);
  expect(observations[0]).toEqual({
    place: 'results[0]',
    tool: 'bandit',
    rule: 'B602',
    external_id: null,
    title: 'subprocess call with shell=True identified, security issue.',
    description: null,
    solution: null,
    severity: 'high',
    tool_severity: 'HIGH',
    vulnerability_ids: [],
    cwes: [78],
    cvss: [],
    references: [
      'https://bandit.readthedocs.io/en/1.7.5/plugins/b602_subprocess_popen_with_shell_equals_true.html',
      'https://cwe.mitre.org/data/definitions/78.html',
    ],
    asset: null,
    location: { path: 'app/run.py', line: 12, end_line: 13, snippet: 'subprocess.call(cmd, shell=True)' },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: new Date('2024-05-06T07:08:09Z'),
    tags: ['subprocess_popen_with_shell_equals_true', 'confidence:high'],
  });
  expect(observations[2]).toMatchObject({ rule: 'B303', severity: 'unknown', location: { path: 'app/hash.py', line: 8 } });
});

test('masks a password that was found', async () => {
  const { observations } = await read('report.json');
  expect(observations[1]).toMatchObject({ rule: 'B105', severity: 'low', title: "Possible hardcoded password: '***'" });
  expect(JSON.stringify(observations)).not.toContain('correct-horse');
});

test('rejects malformed issues and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(rejections).toEqual([
    { place: 'results[0]', reason: 'filename is missing' },
    { place: 'results[1]', reason: 'test_id is missing' },
  ]);
  expect(observations).toMatchObject([{ rule: 'B301', location: { path: 'a.py', line: 5 } }]);
});

test('accepts a report without findings and rejects another file', async () => {
  expect(await read('empty.json')).toMatchObject({ observations: [], rejections: [] });
  await expect(readAll(bandit, fromBuffer('{"results": [{"check_id": "x"}], "errors": []}'))).rejects.toThrow(/test_id, issue_text and filename/);
});

test('reports files that could not be read as unread', async () => {
  const about = (errors: object[]) => bandit.about?.(fromBuffer(JSON.stringify({ errors, generated_at: '2024-05-06T07:08:09Z', metrics: {}, results: [] })));
  expect(await about([])).toEqual({ tools: null, finished: true, unread: [] });
  expect(await about([{ filename: './src/broken.py', reason: 'syntax error while parsing AST from file' }])).toEqual({
    tools: null,
    finished: true,
    unread: ['src/broken.py'],
  });
  expect(await about([{ reason: 'who knows' }])).toMatchObject({ finished: false });
});

test('states time and files of the run', async () => {
  const metrics = { _totals: { loc: 9 }, './src/a.py': { loc: 4 }, 'src/b.py': { loc: 5 } };
  const report = { errors: [], generated_at: '2025-01-01T00:00:00Z', metrics, results: [] };
  expect((await readAll(bandit, fromBuffer(JSON.stringify(report)))).runs).toEqual([
    { finished_at: new Date('2025-01-01T00:00:00Z'), files: ['src/a.py', 'src/b.py'] },
  ]);
});

test('keeps the code of an issue without line numbers, unless it is a password', async () => {
  const issue = (test_id: string) => ({
    test_id,
    issue_text: 'x',
    filename: 'a.py',
    line_number: 8,
    line_range: [8, 9],
    code: '7 import os\n8 eval(\n9     x)\n10 end\n',
  });
  const report = { errors: [], generated_at: '2025-01-01T00:00:00Z', metrics: {}, results: [issue('B307'), issue('B105')] };
  const { observations } = await readAll(bandit, fromBuffer(JSON.stringify(report)));
  expect(observations.map(({ location }) => location.snippet)).toEqual(['eval( x)', undefined]);
});
