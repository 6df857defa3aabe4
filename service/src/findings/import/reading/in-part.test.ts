import type { Location, ReportEntry, ReportFormat } from '@rrs/scan-reports';
import { observation } from '@rrs/scan-reports/normalize.ts';
import { expect, it } from 'vitest';
import { inPart } from './in-part.ts';

const input = { filename: null, async *open() {} };
const formatOf = (...entries: ReportEntry[]): ReportFormat => ({
  id: 'tool',
  name: 'Tool',
  description: 'Entries of a test',
  documentation: 'https://example.com/',
  expects: 'nothing',
  assetType: 'repository',
  detect: () => false,
  about: async () => ({
    tools: null,
    finished: true,
    unread: ['src/a.js'],
    skipped: [
      { rule: 'x', path: 'src/b.js' },
      { rule: 'y', path: null },
    ],
  }),
  async *read() {
    yield* entries;
  },
});
const locationIn = async (part: string | undefined, location: Location) => {
  const record = { ...observation({ place: 'line', tool: 'tool', title: 'A weakness', severity: 'high' }), location };
  for await (const entry of inPart(formatOf({ observation: record }), part).read(input)) if ('observation' in entry) return entry.observation.location;
  throw new Error('no record');
};

it.each([
  ['svc/a', 'src/db.js', 'svc/a/src/db.js'],
  ['./svc/a/', './src/db.js', 'svc/a/src/db.js'],
  ['svc/a', '../lib/db.js', 'svc/lib/db.js'],
  ['svc/a', 'svc/ab/db.js', 'svc/a/svc/ab/db.js'],
  ['svc/a', '/src/db.js', 'svc/a/src/db.js'],
  ['svc/Acme.Web', 'db.cs', 'svc/Acme.Web/db.cs'],
  // The tool was started in the root of the repository.
  ['svc/a', 'svc/a/src/db.js', 'svc/a/src/db.js'],
  ['svc/a', './svc/a/src/db.js', './svc/a/src/db.js'],
  ['svc/a', '/builds/acme/shop/svc/a/src/db.js', '/builds/acme/shop/svc/a/src/db.js'],
  ['svc/a/package-lock.json', 'node_modules/lodash', 'svc/a/node_modules/lodash'],
  ['svc/a/package-lock.json', 'package-lock.json', 'svc/a/package-lock.json'],
  ['svc/a/Dockerfile', 'Dockerfile', 'svc/a/Dockerfile'],
  ['package-lock.json', 'node_modules/lodash', 'node_modules/lodash'],
  ['.', './src/db.js', './src/db.js'],
  [undefined, './src/db.js', './src/db.js'],
])('in the part %s, %s is %s', async (part, path, expected) => {
  expect(await locationIn(part, { path })).toEqual({ path: expected });
});

it('a component without a path is in the part, and what is not in a file stays', async () => {
  expect(await locationIn('svc/a', { component: 'lodash' })).toEqual({ component: 'lodash', path: 'svc/a' });
  expect(await locationIn('svc/a/yarn.lock', { purl: 'pkg:npm/lodash' })).toEqual({ purl: 'pkg:npm/lodash', path: 'svc/a/yarn.lock' });
  expect(await locationIn('.', { component: 'lodash' })).toEqual({ component: 'lodash' });
  expect(await locationIn('svc/a', { url: 'https://example.com/' })).toEqual({ url: 'https://example.com/' });
});

it('joins what the run lists in the same way', async () => {
  const format = inPart(formatOf({ run: { files: ['src/a.js', 'svc/a/b.js'], hidden_in: ['src', '.'] } }), 'svc/a');
  expect(await format.about?.(input)).toMatchObject({
    unread: ['svc/a/src/a.js'],
    skipped: [
      { rule: 'x', path: 'svc/a/src/b.js' },
      { rule: 'y', path: null },
    ],
  });
  const entries: ReportEntry[] = [];
  for await (const entry of format.read(input)) entries.push(entry);
  expect(entries).toEqual([{ run: { files: ['svc/a/src/a.js', 'svc/a/b.js'], hidden_in: ['svc/a/src', '.'] } }]);
});
