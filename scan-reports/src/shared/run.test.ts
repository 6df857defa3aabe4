import { expect, test } from 'vitest';
import { runEntry, startList } from './run.ts';

test('a run without known facts has no entry', () => {
  expect([...runEntry({})]).toEqual([]);
  expect([...runEntry({ asset: null, tool_version: undefined, started_at: null, knowledge: '  ', files: [], checks: [''] })]).toEqual([]);
});

test('known facts are kept, with clean names and without duplicates', () => {
  const started_at = new Date('2026-11-15T10:00:00Z');
  const entries = [
    ...runEntry({
      asset: { type: 'host', name: 'web1\u0000.example.com', ref: ' main ' },
      tool_version: '1.2\u0000.3',
      started_at,
      finished_at: null,
      credentialed: false,
      files: ['src/a.ts', 'src/a.ts', 'src/b\u0000.ts'],
      inventory_only: true,
    }),
  ];
  expect(entries).toEqual([
    {
      run: {
        asset: { type: 'host', name: 'web1.example.com', ref: 'main' },
        tool_version: '1.2.3',
        started_at,
        credentialed: false,
        files: ['src/a.ts', 'src/b.ts'],
        inventory_only: true,
      },
    },
  ]);
});

test('a list that is too long or has an unreadable entry is not stated', () => {
  const short = startList(2);
  expect(short.list()).toBeUndefined();
  short.add('a');
  short.add('b');
  expect(short.list()).toEqual(['a', 'b']);
  short.add('c');
  expect(short.list()).toBeUndefined();
  const damaged = startList();
  damaged.add('a');
  damaged.add(undefined);
  expect(damaged.list()).toBeUndefined();
});
