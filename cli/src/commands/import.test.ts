import { expect, test } from 'vitest';
import { severityLines } from './import.ts';

const none = { critical: 0, high: 0, medium: 0, low: 0, info: 0, unknown: 0 };

test('says how severe the new findings are, apart from those that came back', () => {
  expect(severityLines({ created: { ...none, critical: 2, low: 1 }, reopened: { ...none, high: 1 } })).toEqual(['new: 2 critical, 1 low', 'reopened: 1 high']);
  expect(severityLines({ created: none, reopened: { ...none, critical: 1 } })).toEqual(['reopened: 1 critical']);
  expect(severityLines({ created: none, reopened: none })).toEqual([]);
});
