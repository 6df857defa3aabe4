import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readFixtures } from '../../testing/fixtures.ts';
import { readAll } from '../../testing/reading.ts';
import { gitleaks } from './index.ts';

const fixtures = new Map(readFixtures('gitleaks').map(({ name, bytes }) => [name, bytes]));
const read = (name: string) => readAll(gitleaks, fromBuffer(fixtures.get(name) ?? '', name));

test('reads leaks of version 8', async () => {
  const { observations, rejections } = await read('v8.json');
  expect(rejections).toEqual([]);
  expect(observations[0]).toEqual({
    place: '[0]',
    tool: 'gitleaks',
    rule: 'made-up-token',
    external_id: '0c1d2e3f405162738495a6b7c8d9eafb0c1d2e3f:deploy/config.yml:made-up-token:20',
    title: 'Identified a made-up deployment token.',
    description: 'Commit 0c1d2e3f405162738495a6b7c8d9eafb0c1d2e3f of 2024-02-03',
    solution: null,
    severity: 'high',
    tool_severity: null,
    vulnerability_ids: [],
    cwes: [798],
    cvss: [],
    references: ['https://git.example.com/platform/tools/deployer/-/blob/0c1d2e3f405162738495a6b7c8d9eafb0c1d2e3f/deploy/config.yml#L20-21'],
    asset: { type: 'repository', name: 'https://git.example.com/platform/tools/deployer' },
    location: { path: 'deploy/config.yml', line: 20, end_line: 21 },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: null,
    tags: ['secret', 'deploy'],
  });
  expect(observations[1]).toMatchObject({
    rule: 'generic-api-key',
    external_id: null,
    title: 'Secret found by generic-api-key',
    asset: null,
    location: { path: 'src/keys.ts', line: 4 },
  });
});

test('reads leaks of older versions', async () => {
  const { observations, rejections } = await read('v7.json');
  expect(rejections).toEqual([]);
  expect(observations).toMatchObject([
    {
      rule: 'Password in configuration',
      external_id: null,
      severity: 'high',
      cwes: [798],
      asset: { type: 'repository', name: 'https://git.example.com/shop/shop' },
      location: { path: 'values.yaml', line: 11 },
      tags: ['secret', 'key', 'config'],
    },
    { rule: 'Old rule', asset: null, location: { path: '.env' }, tags: ['secret'] },
  ]);
});

test.each(['v8.json', 'v7.json', 'malformed.json'])('keeps neither secrets nor personal data: %s', async (name) => {
  expect(JSON.stringify(await read(name))).not.toMatch(/not-a-real-secret|Example"|@example\.com/);
});

test('rejects malformed leaks and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(rejections).toEqual([
    { place: '[0]', reason: 'File is missing' },
    { place: '[1]', reason: 'file is missing' },
    { place: '[2]', reason: 'RuleID is missing' },
  ]);
  expect(observations).toMatchObject([{ place: '[3]', location: { path: 'a.txt', line: 2 } }]);
});

test('accepts null and an empty list and rejects another file', async () => {
  expect(await read('empty.json')).toMatchObject({ observations: [], rejections: [] });
  expect(await readAll(gitleaks, fromBuffer('[]'))).toMatchObject({ observations: [], rejections: [] });
  await expect(readAll(gitleaks, fromBuffer('[{"code": "DL3008", "file": "Dockerfile"}]'))).rejects.toThrow(/RuleID, File and StartLine/);
});

test('tells a scan of files from a scan of the history', async () => {
  const leak = (Commit: string) => ({ RuleID: 'aws', File: '.env', StartLine: 1, Fingerprint: '.env:aws:1', Commit });
  const runsOf = async (...leaks: object[]) => (await readAll(gitleaks, fromBuffer(JSON.stringify(leaks)))).runs;
  expect(await runsOf(leak(''), leak(''))).toEqual([{ restrictions: ['scope=files'] }]);
  expect(await runsOf(leak(''), leak('4f1c'))).toEqual([]);
  expect((await read('v8.json')).runs).toEqual([]);
});
