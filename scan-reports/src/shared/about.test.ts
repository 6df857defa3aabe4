import { expect, test } from 'vitest';
import { startAbout } from './about.ts';
import { observation } from './normalize.ts';

test('a report that states nothing counts as finished and complete', () => {
  expect(startAbout().about()).toEqual({ tools: null, finished: true, unread: [] });
  expect(startAbout(['x']).about().tools).toEqual(['x']);
});

test('unread paths have the form of observation paths, without duplicates', () => {
  const about = startAbout();
  about.missed('src/lib/');
  const paths = ['src/lib', 'src/a.ts', 'src/a.ts', 'src/a\tb  c.ts', `src/${'x'.repeat(2_000)}`];
  for (const path of paths) about.missed(path);
  const seen = paths.map((path) => observation({ place: 'x', tool: 'x', title: 'x', severity: 'low', location: { path } }).location.path);
  expect(about.about()).toEqual({ tools: null, finished: true, unread: [...new Set(seen)] });
});

test('an unnamed path, or more paths than the limit, makes the report unfinished', () => {
  const unnamed = startAbout();
  unnamed.missed(undefined);
  expect(unnamed.about()).toMatchObject({ finished: false, unread: [] });
  const many = startAbout();
  for (let index = 0; index < 10_000; index++) many.missed(`src/${index}`);
  expect(many.about().finished).toBe(true);
  many.missed('src/one-more');
  expect(many.about().finished).toBe(false);
  expect(many.about().unread).toHaveLength(10_000);
});
