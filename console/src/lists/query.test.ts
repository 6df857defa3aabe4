import { expect, it } from 'vitest';
import { change, parseQuery, writeQuery } from './query.ts';

it('reads and writes queries of the API as they are', () => {
  const text = '?severity=critical,high&kev=true&q=log4j&due_to=2026-11-16T00:00:00Z';
  expect(writeQuery(parseQuery(text))).toBe(text);
});

it('joins repeated names, and leaves out empty values', () => {
  expect(parseQuery('?severity=critical&severity=high&tag=')).toEqual({ severity: 'critical,high' });
});

it('keeps text that looks like something else', () => {
  expect(parseQuery('?q=true&asset_version=1.0')).toEqual({ q: 'true', asset_version: '1.0' });
  expect(parseQuery(writeQuery({ q: 'a&b=c,d +' }))).toEqual({ q: 'a&b=c,d +' });
});

it('changes and removes names', () => {
  expect(change({ severity: 'high', sort: '-due_at' }, { severity: null, kev: 'true' })).toEqual({ sort: '-due_at', kev: 'true' });
});
