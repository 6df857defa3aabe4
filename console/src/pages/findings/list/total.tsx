import { Button } from '@mantine/core';
import type { InputOf } from '@rrs/client';
import { useState } from 'react';
import { useApi } from '../../../api/client.ts';
import { type List, totalOf } from '../../../lists/infinite.ts';
import { type Query, writeQuery } from '../../../lists/query.ts';

/** How many findings match. Counting stops at 10,000, because nobody waits for more, unless somebody asks. */
export function Total({ total, query }: { total: List<unknown>['total']; query: Query }) {
  const key = writeQuery({ ...query, sort: null });
  const [asked, setAsked] = useState<string | null>(null);
  const isAsked = asked === key;
  const { sort: _sort, ...filter } = query;
  const exact = useApi('listFindings', { query: { ...filter, limit: 1, total: 'exact' } } as InputOf<'listFindings'>, { enabled: isAsked });
  if (isAsked && exact.data) return totalOf(exact.data.page.total);
  if (total?.relation !== 'at_least') return totalOf(total);
  return (
    <>
      {totalOf(total)}{' '}
      <Button variant="subtle" size="compact-xs" loading={isAsked} onClick={() => setAsked(key)}>
        Count all
      </Button>
    </>
  );
}
