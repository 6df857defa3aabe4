import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { eventPatterns, eventTypes } from './types.ts';

it('what can be told is what the page on webhooks lists, and can be asked for one by one, by kind and as a whole', () => {
  const page = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8').split('## Events')[1] ?? '';
  const rows = page.split('\n').filter((line) => line.startsWith('|'));
  const listed = new Set(rows.join().match(/(?<=`)[a-z_]+\.[a-z_]+(?=`)/g));
  expect([...listed].sort()).toEqual([...eventTypes, 'webhook.test'].sort());
  expect(eventPatterns).toEqual(expect.arrayContaining(['*', 'finding.*', 'work_item.*', ...eventTypes]));
});
