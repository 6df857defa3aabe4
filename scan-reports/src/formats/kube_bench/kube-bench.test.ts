import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { kubeBench } from './index.ts';

const read = (name: string) => readAll(kubeBench, fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name));

test('reads failed tests and warnings of automatic tests', async () => {
  const { observations, rejections } = await read('controls.json');
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(2);
  expect(observations[0]).toEqual({
    place: 'Controls[0].tests[0].results[0]',
    tool: 'kube-bench',
    rule: '1.1.1',
    external_id: null,
    title: 'Ensure that the API server pod specification file permissions are set to 600 (Automated)',
    description: 'Control Plane Security Configuration\n\nControl Plane Node Configuration Files\n\nExpected: permissions has permissions 600',
    solution: 'chmod 600 /etc/kubernetes/manifests/kube-apiserver.yaml',
    severity: 'medium',
    tool_severity: 'FAIL',
    vulnerability_ids: [],
    cwes: [],
    cvss: [],
    references: [],
    asset: null,
    location: {},
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: null,
    tags: ['master', 'benchmark cis-1.8', 'scored'],
  });
  expect(observations[1]).toMatchObject({ rule: '1.1.10', severity: 'info', tool_severity: 'WARN', solution: 'chown it' });
  expect(JSON.stringify(observations)).not.toContain('not-a-real-secret');
});

test('reads the older list and one document per node type', async () => {
  expect((await read('list.json')).observations).toMatchObject([
    { place: '[0].tests[0].results[0]', rule: '4.2.11', solution: 'Remove it.', description: 'Worker Node Security Configuration\n\nKubelet' },
  ]);
  expect((await read('documents.jsonl')).observations).toMatchObject([
    { rule: '1.1.1', description: 'Master\n\nAPI Server', tags: ['master', 'benchmark 1.4'] },
    { place: 'line 2 tests[0].results[0]', rule: '2.1.1', description: 'Worker\n\nKubelet', solution: 'Do that.' },
  ]);
});

test('rejects malformed results and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(rejections).toEqual([
    { place: 'Controls[0].tests[0].results[0]', reason: 'test_number is missing' },
    { place: 'Controls[0].tests[0].results[1]', reason: 'status must be PASS, FAIL, WARN or INFO' },
  ]);
  expect(observations).toMatchObject([{ rule: '1.1.3', title: 'Test 1.1.3' }]);
});

test('accepts a report without controls and rejects another report', async () => {
  expect(await read('empty.json')).toMatchObject({ observations: [], rejections: [] });
  for (const foreign of ['{}', '', '{"SchemaVersion": 2, "Results": []}'])
    await expect(readAll(kubeBench, fromBuffer(foreign))).rejects.toThrow(/with Controls and Totals/);
  await expect(readAll(kubeBench, fromBuffer('<x/>'))).rejects.toThrow(ReportError);
});

test('states all tests of the run', async () => {
  const results = ['1.1.1', '1.1.2'].map((test_number) => ({ test_number, test_desc: 'x', status: 'PASS' }));
  const report = { Controls: [{ node_type: 'master', tests: [{ results }] }], Totals: {} };
  expect((await readAll(kubeBench, fromBuffer(JSON.stringify(report)))).runs).toEqual([{ checks: ['1.1.1', '1.1.2'] }]);
});
