import type { ListedWorkItem, WorkItemStatus } from '@rrs/client';
import { expect, test } from 'vitest';
import { type Column, withoutRepeats } from './column.ts';

const column = (status: WorkItemStatus, ...cards: [id: string, version: number][]): Column => ({
  status,
  cards: cards.map(([id, version]) => ({ id, version, status }) as ListedWorkItem),
  total: null,
});

test('a card that moved while the columns were read is shown once, where it is now', () => {
  const columns = [column('open', ['a', 1]), column('in_progress', ['b', 4], ['c', 2]), column('blocked', ['b', 5])];
  expect(withoutRepeats(columns).map(({ status, cards }) => [status, ...cards.map(({ id }) => id)])).toEqual([
    ['open', 'a'],
    ['in_progress', 'c'],
    ['blocked', 'b'],
  ]);
});
