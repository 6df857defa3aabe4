import { expect, it } from 'vitest';
import { timesOf } from './run-times.ts';

const at = (hour: number): Date => new Date(Date.UTC(2026, 0, 1, hour));
const upload = { scan_scope: {}, created_at: at(12) };

it.each([
  ['is possible', { started_at: at(8), finished_at: at(9), knowledge_at: at(7) }, null],
  ['is after the upload', { started_at: at(8), finished_at: at(13) }, 'time_suspect'],
  ['ends before it starts', { started_at: at(9), finished_at: at(8) }, 'time_suspect'],
  ['ends before the date of the knowledge that the scan used', { started_at: at(8), finished_at: at(9), knowledge_at: at(10) }, 'time_suspect'],
])('a time that %s', (_, facts, doubt) => {
  expect(timesOf(upload, facts, {}).doubt).toBe(doubt);
});

it('the scope can only make the start earlier', () => {
  const startOf = (hour: number) =>
    timesOf({ ...upload, scan_scope: { started_at: at(hour).toISOString() } }, { started_at: at(8), finished_at: at(9) }, {}).startedAt;
  expect([startOf(6), startOf(10)]).toEqual([at(6), at(8)]);
});
