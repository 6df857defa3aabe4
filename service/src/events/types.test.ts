import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { eventPatterns, eventTypes } from './types.ts';

it('lists the same event types as docs/webhooks.md, and a pattern for each type, each kind and all events', () => {
  const page = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8').split('## Events')[1] ?? '';
  const rows = page.split('\n').filter((line) => line.startsWith('|'));
  const listed = new Set(rows.join().match(/(?<=`)[a-z_]+\.[a-z_]+(?=`)/g));
  expect([...listed].sort()).toEqual([...eventTypes, 'webhook.test'].sort());
  expect(eventPatterns).toEqual(expect.arrayContaining(['*', 'finding.*', 'work_item.*', ...eventTypes]));
});
