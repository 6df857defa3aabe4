import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { Database, TenantTx } from '../db/database.ts';
import { COUNT_LIMIT, type Page, type PageRequest, type Position } from '../db/pages.ts';
import { AppError } from '../shared/errors.ts';
import { Named, Nullable, OneOf, Text } from './schemas.ts';

const MAC_BYTES = 16;

export function listParameters<const Keys extends readonly string[]>(sortKeys: Keys, defaultSort: SortOf<Keys>) {
  const sorts = sortKeys.flatMap((key) => [key, `-${key}`]) as SortOf<Keys>[];
  return {
    limit: Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Rows on a page' }),
    cursor: Type.Optional(Text(1, 2000, { description: 'Where the page begins: `next_cursor` or `prev_cursor` of another page of the same list' })),
    sort: OneOf(sorts, { default: defaultSort, description: 'One key; `-` in front means descending; the id breaks ties' }),
    total: OneOf(['bounded', 'exact'] as const, {
      default: 'bounded',
      description: `Counting stops at ${COUNT_LIMIT.toLocaleString('en')} unless \`exact\``,
    }),
  };
}

type SortOf<Keys extends readonly string[]> = Keys[number] | `-${Keys[number]}`;

export function PageOf<T extends TSchema>(title: string, item: T) {
  return Named(title, {
    data: Type.Array(item),
    page: Named('Page', {
      limit: Type.Integer({ examples: [50] }),
      next_cursor: Nullable(Type.String({ examples: [null] })),
      prev_cursor: Nullable(Type.String({ examples: [null] })),
      total: Type.Object({
        count: Type.Integer({ examples: [1] }),
        relation: OneOf(['exact', 'at_least'] as const, { description: '`at_least`: counting stopped at the limit' }),
      }),
    }),
  });
}

/** `<name>_from` inclusive, `<name>_to` exclusive; a date stands for its first moment in UTC. */
export function range<const Name extends string>(name: Name) {
  const moment = (description: string) => Type.Optional(Type.String({ format: 'moment', description, examples: ['2026-11-01'] }));
  return { [`${name}_from`]: moment('Inclusive; a date or a date-time'), [`${name}_to`]: moment('Exclusive; a date or a date-time') } as Record<
    `${Name}_from` | `${Name}_to`,
    ReturnType<typeof moment>
  >;
}

interface ListQuery {
  limit: number;
  cursor?: string;
  sort: string;
  total: 'bounded' | 'exact';
}

interface Listing {
  db: Database;
  secret: Buffer;
}

/** The page that a request asks for, with links to its neighbours in the answer's head. */
export async function readPage<Found extends Page<unknown>>(
  { db, secret }: Listing,
  request: FastifyRequest,
  reply: FastifyReply,
  read: (tx: TenantTx, page: PageRequest) => Promise<Found>,
): Promise<Found> {
  const asked = pageRequest(secret, request);
  const found = await db.withTenant(request.actor, (tx) => read(tx, asked));
  linkPages(request, reply, found.page);
  return found;
}

/** Opens the cursor, if there is one, against everything it was bound to: organization, list, filters and sort. */
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
  const mac = (text: string): Buffer => createHmac('sha256', secret).update(`${bound}.${text}`).digest().subarray(0, MAC_BYTES);
  const seal = (position: Position): string => {
    const text = Buffer.from(JSON.stringify([position.direction, position.value, position.id])).toString('base64url');
    return `${text}.${mac(text).toString('base64url')}`;
  };
  return { limit, sort: query.sort, total, position: cursor === undefined ? null : open(cursor, mac), seal };
}

/** Values of one filter are alternatives, in whatever order. */
function unordered([name, value]: [string, unknown]): [string, unknown] {
  return [name, Array.isArray(value) ? [...new Set(value)].sort() : value];
}

function open(cursor: string, mac: (text: string) => Buffer): Position {
  const [text = '', tag = ''] = cursor.split('.');
  const expected = mac(text);
  const given = Buffer.from(tag, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected) || `${text}.${expected.toString('base64url')}` !== cursor) {
    throw new AppError(
      'invalid_cursor',
      'The cursor was not made for this list with these filters and this sort, or it was changed. Start again without "cursor".',
      {
        errors: [{ in: 'query', path: '/cursor', code: 'invalid_cursor', detail: 'does not belong to this list, its filters and its sort' }],
      },
    );
  }
  const [direction, value, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [Position['direction'], string | null, string];
  return { direction, value, id };
}

/** RFC 8288 links for a page, from the address it was asked for at. */
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
