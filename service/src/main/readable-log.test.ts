import { expect, test } from 'vitest';
import { readableLine } from './readable-log.ts';

const line = (fields: object) => `${JSON.stringify({ level: 30, time: Date.UTC(2026, 0, 2, 3, 4, 5), ...fields })}\n`;

test('a log line reads as time, level, message and fields', () => {
  expect(readableLine(line({ role: 'start', url: 'http://localhost:8080', msg: 'started' }))).toBe(
    '03:04:05 info  started role=start url=http://localhost:8080\n',
  );
  expect(readableLine(line({ level: 40, error: 'no route', hosts: ['a', 'b'], msg: 'sync failed' }))).toBe(
    '03:04:05 warn  sync failed error="no route" hosts=["a","b"]\n',
  );
});

test('the stack trace of an error follows on lines of its own', () => {
  expect(readableLine(line({ level: 50, err: { message: 'boom', stack: 'Error: boom\n    at run' }, msg: 'failed' }))).toBe(
    '03:04:05 error failed\n  Error: boom\n      at run\n',
  );
});

test('control characters never reach the terminal', () => {
  const hostile = readableLine(line({ path: '/\u001b[2J', err: { stack: '\u001b[1A\u009b2K' }, msg: 'a\nb\u0007' }));
  expect(hostile.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  expect(hostile.split('\n')).toHaveLength(3);
});
