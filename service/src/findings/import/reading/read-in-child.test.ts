import { expect, it } from 'vitest';
import { childReader } from './read-in-child.ts';
import type { ReadingHost, ReadTask } from './read-report.ts';

it('small reports have readers of their own, so that they do not wait for large ones', async () => {
  const readBy: string[] = [];
  const pool = (name: string) => ({ run: async () => void readBy.push(name), close: async () => {} });
  const reader = childReader(null, { small: pool('small'), large: pool('large'), close: async () => {} });
  const stored = { sha256: '', folder: null };
  const task = (bytes: number): ReadTask => ({
    orgId: '',
    importId: '',
    filename: null,
    stored: { ...stored, bytes },
    format: null,
    scope: { coverage: 'partial' },
    isFast: true,
  });
  const host = {} as ReadingHost;
  for (const bytes of [0, 65_536, 65_537, 2 ** 30]) await reader.read(task(bytes), host, new AbortController().signal);
  expect(readBy).toEqual(['small', 'small', 'large', 'large']);
});
