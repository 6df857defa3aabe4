import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../shared/ids.ts';
import { startApi, type TestApi } from '../testing/http/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

interface Row {
  id: string;
  at: number;
}

interface Page {
  data: { id: string; occurred_at: string }[];
  page: { limit: number; next_cursor: string | null; prev_cursor: string | null; total: { count: number; relation: string } | null };
}

const BASE = Date.parse('2026-01-01T00:00:00Z');

async function insert(type: string, offsets: readonly number[]): Promise<Row[]> {
  const rows = offsets.map((offset) => ({ id: newId(), at: BASE + offset }));
  if (rows.length === 0) return rows;
  await api.db.withTenant({ orgId: api.ours.id }, (tx) =>
    tx
      .insertInto('audit_events')
      .values(
        rows.map(({ id, at }) => ({
          org_id: api.ours.id,
          id,
          occurred_at: new Date(at),
          actor_type: 'system' as const,
          actor_name: 'test',
          action: 'a',
          object_type: type,
          object_id: 'o',
        })),
      )
      .execute(),
  );
  return rows;
}

async function get(path: string) {
  const response = await api.app.inject({ url: path, headers: { authorization: `Bearer ${api.ours.owner}` } });
  expect(response.statusCode, response.payload).toBe(200);
  return { page: response.json<Page>(), link: String(response.headers.link) };
}

async function fetchPage(type: string, sort: string, limit: number, cursor: string | null): Promise<Page> {
  return (await get(`/api/v1/audit-events?object_type=${type}&sort=${sort}&limit=${limit}&total=bounded${cursor === null ? '' : `&cursor=${cursor}`}`)).page;
}

function ordered(rows: readonly Row[], sort: string): string[] {
  const sign = sort.startsWith('-') ? -1 : 1;
  return [...rows].sort((a, b) => sign * (a.at - b.at || (a.id < b.id ? -1 : 1))).map(({ id }) => id);
}

/** Few distinct times, so that many rows tie. */
const offsets = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 30 });
const sorts = fc.constantFrom('occurred_at', '-occurred_at');
const limits = fc.infiniteStream(fc.integer({ min: 1, max: 12 }));
const limitOf = (stream: Iterator<number>): number => stream.next().value as number;

describe('following all pages', () => {
  it('returns every row once, in order, forwards and backwards', async () => {
    await fc.assert(
      fc.asyncProperty(offsets, sorts, limits, async (when, sort, sizes) => {
        const type = newId();
        const expected = ordered(await insert(type, when), sort);

        const forwards: string[] = [];
        let page = await fetchPage(type, sort, limitOf(sizes), null);
        expect(page.page.prev_cursor).toBeNull();
        for (;;) {
          expect(page.data.length).toBeLessThanOrEqual(page.page.limit);
          expect(page.page.total).toEqual({ count: expected.length, relation: 'exact' });
          forwards.push(...page.data.map(({ id }) => id));
          if (page.page.next_cursor === null) break;
          expect(page.data.length).toBe(page.page.limit);
          page = await fetchPage(type, sort, limitOf(sizes), page.page.next_cursor);
        }
        expect(forwards).toEqual(expected);

        const backwards = page.data.map(({ id }) => id);
        while (page.page.prev_cursor !== null) {
          page = await fetchPage(type, sort, limitOf(sizes), page.page.prev_cursor);
          expect(page.page.next_cursor).not.toBeNull();
          backwards.unshift(...page.data.map(({ id }) => id));
        }
        expect(backwards).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  it('returns every row that existed at the start exactly once during concurrent inserts', async () => {
    const busy = fc.array(fc.array(fc.integer({ min: -3, max: 8 }), { maxLength: 5 }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(offsets, sorts, limits, busy, fc.boolean(), async (when, sort, sizes, bursts, backwards) => {
        const type = newId();
        const present = (await insert(type, when)).map(({ id }) => id);
        let page = await fetchPage(type, sort, limitOf(sizes), null);
        while (backwards && page.page.next_cursor !== null) page = await fetchPage(type, sort, limitOf(sizes), page.page.next_cursor);

        let seen: Row[] = [];
        for (let step = 0; ; step++) {
          const rows = page.data.map(({ id, occurred_at }) => ({ id, at: Date.parse(occurred_at) }));
          seen = backwards ? [...rows, ...seen] : [...seen, ...rows];
          await insert(type, bursts[step] ?? []);
          const cursor = backwards ? page.page.prev_cursor : page.page.next_cursor;
          if (cursor === null) break;
          page = await fetchPage(type, sort, limitOf(sizes), cursor);
        }
        const ids = seen.map(({ id }) => id);
        expect(ids).toEqual(ordered(seen, sort));
        expect(new Set(ids).size).toBe(ids.length);
        expect(present.filter((id) => !ids.includes(id))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});

describe('the ends of a list', () => {
  it('have no further cursor', async () => {
    const type = newId();
    const ids = ordered(await insert(type, [1, 2, 3, 4, 5]), 'occurred_at');
    const first = await fetchPage(type, 'occurred_at', 2, null);
    const second = await fetchPage(type, 'occurred_at', 2, first.page.next_cursor);
    const third = await fetchPage(type, 'occurred_at', 2, second.page.next_cursor);
    const shown = [first, second, third].map(({ data, page }) => [data.length, page.prev_cursor !== null, page.next_cursor !== null]);
    expect(shown).toEqual([
      [2, false, true],
      [2, true, true],
      [1, true, false],
    ]);
    const back = await fetchPage(type, 'occurred_at', 2, third.page.prev_cursor);
    expect(back.data).toEqual(second.data);
    const beginning = await fetchPage(type, 'occurred_at', 2, back.page.prev_cursor);
    expect([beginning.data, beginning.page.prev_cursor]).toEqual([first.data, null]);
    expect((await fetchPage(type, 'occurred_at', 200, beginning.page.next_cursor)).data.map(({ id }) => id)).toEqual(ids.slice(2));
  });

  it('are not followed by an empty page', async () => {
    const type = newId();
    await insert(type, [1, 2, 3, 4]);
    const first = await fetchPage(type, '-occurred_at', 2, null);
    const second = await fetchPage(type, '-occurred_at', 2, first.page.next_cursor);
    expect([second.data.length, second.page.next_cursor]).toEqual([2, null]);
    expect((await fetchPage(type, '-occurred_at', 4, null)).page.next_cursor).toBeNull();
  });

  it('are a single empty page if the list is empty', async () => {
    const { data, page } = await fetchPage(newId(), 'occurred_at', 50, null);
    expect({ data, page }).toEqual({ data: [], page: { limit: 50, next_cursor: null, prev_cursor: null, total: { count: 0, relation: 'exact' } } });
  });
});

describe('the Link header', () => {
  const parse = (link: string): Record<string, string> =>
    Object.fromEntries([...link.matchAll(/<([^>]*)>; rel="(\w+)"(?:, |$)/g)].map(([, url, rel]) => [rel, url]));

  it('is enough to follow the list, and keeps filters and limit', async () => {
    const type = `${newId()}?a=1&b=ä,c d+e`;
    const ids = ordered(await insert(type, [0, 0, 1, 1, 2]), '-occurred_at');
    const start = `/api/v1/audit-events?limit=2&action=a,b&action=c&object_type=${encodeURIComponent(type).replace('%3F', '?')}`;
    const walked: string[] = [];
    const rels: string[][] = [];
    let next: string | undefined = start;
    let links: Record<string, string> = {};
    while (next !== undefined) {
      const { page, link } = await get(next);
      links = parse(link);
      rels.push(Object.keys(links));
      walked.push(...page.data.map(({ id }) => id));
      next = links.next;
    }
    expect(walked).toEqual(ids);
    expect(rels).toEqual([
      ['first', 'next'],
      ['first', 'prev', 'next'],
      ['first', 'prev'],
    ]);
    expect((await get(String(links.first))).page.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect((await get(String(links.prev))).page.data.map(({ id }) => id)).toEqual(ids.slice(2, 4));
  });
});

describe('the total', () => {
  it('is not counted unless asked for, and is bounded at 10,000 or exact', async () => {
    const fill = (type: string, count: number) =>
      api.db.withTenant({ orgId: api.ours.id }, (tx) =>
        sql`insert into audit_events (org_id, id, actor_type, actor_name, action, object_type, object_id)
            select ${api.ours.id}, gen_random_uuid(), 'system', 'test', 'a', ${type}, 'o' from generate_series(1, ${count}::int)`.execute(tx),
      );
    const full = newId();
    await fill(full, 10_000);
    const totalOf = async (type: string, total: string) => (await get(`/api/v1/audit-events?limit=1&object_type=${type}${total}`)).page.page.total;
    expect(await totalOf(full, '')).toBeNull();
    expect(await totalOf(full, '&total=none')).toBeNull();
    expect(await totalOf(full, '&total=bounded')).toEqual({ count: 10_000, relation: 'exact' });
    await fill(full, 1);
    expect(await totalOf(full, '&total=bounded')).toEqual({ count: 10_000, relation: 'at_least' });
    expect(await totalOf(full, '&total=exact')).toEqual({ count: 10_001, relation: 'exact' });
  });
});

it.each(['br', 'gzip'])('a page is compressed with %s if the caller accepts it', async (encoding) => {
  await insert('compressed', [...Array(50).keys()]);
  const read = async (accepted: string) => {
    const headers = { authorization: `Bearer ${api.ours.owner}`, 'accept-encoding': accepted };
    const response = await fetch(`${api.url}/api/v1/audit-events?object_type=compressed`, { headers });
    return { encoding: response.headers.get('content-encoding'), body: await response.json() };
  };
  const plain = await read('identity');
  expect(plain.encoding).toBeNull();
  expect(await read(encoding)).toEqual({ encoding, body: plain.body });
});
