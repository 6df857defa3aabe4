import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { Database, TenantTx } from '../db/database.ts';
import { COUNT_LIMIT, type Page, type PageRequest, type Position, type TotalMode, totals } from '../db/pages.ts';
import { AppError } from '../shared/errors.ts';
import { Named, Nullable, OneOf, Text } from './schemas.ts';

const MAC_BYTES = 16;

export function listParameters<const Keys extends readonly string[]>(sortKeys: Keys, defaultSort: SortOf<Keys>) {
  const sorts = sortKeys.flatMap((key) => [key, `-${key}`]) as SortOf<Keys>[];
  return {
    limit: Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Maximum number of items per page' }),
    cursor: Type.Optional(Text(1, 2000, { description: '`next_cursor` or `prev_cursor` of another page of the same list. Default: the first page' })),
    sort: OneOf(sorts, { default: defaultSort, description: 'Sort key. A leading `-` sorts in descending order. Ties are sorted by ID' }),
    total: OneOf(totals, {
      default: 'none',
      description: `How to count the items on all pages. \`none\`: not at all. \`bounded\`: counting stops at ${COUNT_LIMIT.toLocaleString('en')}. \`exact\`: all items are counted, which can be slow`,
    }),
  };
}

type SortOf<Keys extends readonly string[]> = Keys[number] | `-${Keys[number]}`;

export function PageOf<T extends TSchema>(title: string, item: T) {
  return Named(title, {
    data: Type.Array(item, { description: 'The items of this page' }),
    page: Named('Page', {
      limit: Type.Integer({ description: 'Maximum number of items per page', examples: [50] }),
      next_cursor: Nullable(Type.String({ description: 'Cursor of the next page. `null` on the last page', examples: [null] })),
      prev_cursor: Nullable(Type.String({ description: 'Cursor of the previous page. `null` on the first page', examples: [null] })),
      total: Nullable(
        Type.Object(
          {
            count: Type.Integer({ description: 'Number of items that match the filters', examples: [1] }),
            relation: OneOf(['exact', 'at_least'] as const, { description: '`exact`: `count` is the total. `at_least`: counting stopped at the limit' }),
          },
          { description: 'Number of items on all pages. `null` unless the parameter `total` asks for it' },
        ),
      ),
    }),
  });
}

/** Parameters `<name>_from` (inclusive) and `<name>_to` (exclusive). A date means 00:00 UTC on that day. */
export function range<const Name extends string>(name: Name) {
  const moment = (description: string) => Type.Optional(Type.String({ format: 'moment', description, examples: ['2026-11-01'] }));
  return {
    [`${name}_from`]: moment('Start of the range, inclusive: a date (00:00 UTC) or a date-time'),
    [`${name}_to`]: moment('End of the range, exclusive: a date (00:00 UTC) or a date-time'),
  } as Record<`${Name}_from` | `${Name}_to`, ReturnType<typeof moment>>;
}

interface ListQuery {
  limit: number;
  cursor?: string;
  sort: string;
  total: TotalMode;
}

interface Listing {
  db: Database;
  secret: Buffer;
}

/** Reads the requested page and sets the `Link` header. */
export async function readPage<Found extends Page<unknown>>(
  { db, secret }: Listing,
  request: FastifyRequest,
  reply: FastifyReply,
  read: (tx: TenantTx, page: PageRequest) => Promise<Found>,
): Promise<Found> {
  const page = pageRequest(secret, request);
  const found = await db.withTenant(request.actor, (tx) => read(tx, page));
  linkPages(request, reply, found.page);
  return found;
}

/** A cursor is valid only for the organization, list, filters and sort order that it was issued for. */
function pageRequest(secret: Buffer, request: FastifyRequest): PageRequest {
  const query = request.query as ListQuery;
  const { limit, cursor, total, ...filters } = query;
  const [list] = request.url.split('?');
  const bound = hash(
    'sha256',
    JSON.stringify([
      request.actor.orgId,
      list,
      Object.entries(filters)
        .map(unordered)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ]),
  );
  const mac = (text: string): Buffer => createHmac('sha256', keyOf(secret)).update(`${bound}.${text}`).digest().subarray(0, MAC_BYTES);
  const seal = (position: Position): string => {
    const text = Buffer.from(JSON.stringify([position.direction, position.value, position.id])).toString('base64url');
    return `${text}.${mac(text).toString('base64url')}`;
  };
  return { limit, sort: query.sort, total, position: cursor === undefined ? null : open(cursor, mac), seal };
}

const keys = new WeakMap<Buffer, KeyObject>();

/** Making a key of the secret takes several times as long as signing with it. */
function keyOf(secret: Buffer): KeyObject {
  const key = keys.get(secret) ?? createSecretKey(secret);
  keys.set(secret, key);
  return key;
}

/** The values of one filter are alternatives, so their order does not matter. */
function unordered([name, value]: [string, unknown]): [string, unknown] {
  return [name, Array.isArray(value) ? [...new Set(value)].sort() : value];
}

function open(cursor: string, mac: (text: string) => Buffer): Position {
  const [text = '', tag = ''] = cursor.split('.');
  const expected = mac(text);
  const given = Buffer.from(tag, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected) || `${text}.${expected.toString('base64url')}` !== cursor) {
    throw new AppError('invalid_cursor', 'The cursor belongs to another list, filter or sort order, or it was modified. Start again without `cursor`.', {
      errors: [{ in: 'query', path: '/cursor', code: 'invalid_cursor', detail: 'belongs to another list, filter or sort order' }],
    });
  }
  const [direction, value, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [Position['direction'], string | null, string];
  return { direction, value, id };
}

/** RFC 8288 links, derived from the URL of the request. */
function linkPages(request: FastifyRequest, reply: FastifyReply, page: Page<unknown>['page']): void {
  const [path = '', ...search] = request.url.split('?');
  const link = (cursor: string | null, rel: string): string[] => {
    const parameters = new URLSearchParams(search.join('?'));
    parameters.delete('cursor');
    if (cursor !== null) parameters.set('cursor', cursor);
    const query = parameters.toString();
    return [`<${path}${query ? `?${query}` : ''}>; rel="${rel}"`];
  };
  const links = [
    ...link(null, 'first'),
    ...(page.prev_cursor === null ? [] : link(page.prev_cursor, 'prev')),
    ...(page.next_cursor === null ? [] : link(page.next_cursor, 'next')),
  ];
  reply.header('link', links.join(', '));
}
