import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readFixtures } from '../../testing/fixtures.ts';
import { readAll } from '../../testing/reading.ts';
import { hadolint } from './index.ts';

const fixtures = new Map(readFixtures('hadolint').map(({ name, bytes }) => [name, bytes]));
const read = (name: string) => readAll(hadolint, fromBuffer(fixtures.get(name) ?? '', name));

test('reads violations of all levels', async () => {
  const { observations, rejections } = await read('levels.json');
  expect(rejections).toEqual([]);
  expect(observations).toMatchObject([
    {
      place: '[0]',
      tool: 'hadolint',
      rule: 'DL3020',
      external_id: null,
      title: 'Use COPY instead of ADD for files and folders',
      severity: 'high',
      tool_severity: 'error',
      asset: null,
      location: { path: 'docker/api/Dockerfile', line: 12 },
      present: true,
      suppressed: false,
    },
    { rule: 'DL3007', severity: 'medium', tool_severity: 'warning', location: { line: 1 } },
    { rule: 'SC2086', severity: 'info', location: { path: 'docker/web/Dockerfile', line: 7 } },
    { rule: 'DL3048', severity: 'info', tool_severity: 'style' },
  ]);
  expect(observations[3]?.location).toEqual({ line: 3 });
});

test('rejects malformed violations and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(rejections).toEqual([
    { place: '[1]', reason: 'code is missing' },
    { place: '[2]', reason: 'code is missing' },
  ]);
  expect(observations).toMatchObject([
    { rule: 'DL3002', location: { path: 'Dockerfile', line: 9 } },
    { place: '[3]', rule: 'DL4006', location: { path: 'Dockerfile', line: 14 } },
  ]);
});

test('accepts an empty list and rejects another file', async () => {
  expect(await read('empty.json')).toMatchObject({ observations: [], rejections: [] });
  await expect(readAll(hadolint, fromBuffer('[{"RuleID": "aws", "File": "a"}]'))).rejects.toThrow(/Expected .* code, level, message, file and line/);
  await expect(readAll(hadolint, fromBuffer('{"code": 1}'))).rejects.toThrow(/Expected/);
});
