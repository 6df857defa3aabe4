import type { FastifySchema } from 'fastify';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { Database, TenantTx } from '../db/database.ts';
import type { Page, PageRequest } from '../db/pages.ts';
import type { Actor } from '../shared/actor.ts';
import type { ErrorCode } from '../shared/errors.ts';
import type { Permission } from '../shared/permissions.ts';
import type { App } from './app.ts';
import { readPage } from './paging.ts';
import { assertVersion, expectedVersions, IfMatchHeaders, setETag } from './requests/conditions.ts';
import { problems } from './schemas.ts';
import type { Tag } from './tags.ts';

/** The four operations that most resources share: list, get, patch and delete. Anything else is a plain Fastify route. */
interface Operation<Params extends TObject> {
  access: Permission;
  operationId: string;
  summary: string;
  description: string;
  tag: Tag;
  params?: Params;
  /** Error codes in addition to those of every operation of this kind. */
  problems?: readonly ErrorCode[];
}

interface Call<Params extends TObject> {
  actor: Actor;
  params: Static<Params>;
}

interface Resources {
  db: Database;
  /** Signs cursors. */
  secret: Buffer;
}

type None = TObject<Record<never, TSchema>>;

/** Returns one page. The `Link` header and the cursors come from the query's paging parameters. */
export function listRoute<Query extends TObject, List extends TSchema, Params extends TObject = None>(
  app: App,
  deps: Resources,
  path: string,
  operation: Operation<Params> & {
    query: Query;
    list: List;
    read: (tx: TenantTx, call: Call<Params> & { query: Static<Query>; page: PageRequest }) => Promise<Page<unknown> & Static<List>>;
  },
): void {
  const response = { 200: operation.list, ...problems('invalid_cursor', ...(operation.problems ?? [])) };
  const schema: FastifySchema = { ...described(operation), querystring: operation.query, response };
  app.get(path, { config: { access: operation.access }, schema }, (request, reply) => {
    const call = { actor: request.actor, params: request.params as Static<Params>, query: request.query as Static<Query> };
    return readPage(deps, request, reply, (tx, page) => operation.read(tx, { ...call, page }));
  });
}

/** Returns one object. Its `version`, if it has one, is the ETag. */
export function getRoute<Body extends TSchema, Params extends TObject = None, Query extends TObject = None>(
  app: App,
  deps: Pick<Resources, 'db'>,
  path: string,
  operation: Operation<Params> & {
    query?: Query;
    body: Body;
    /** Set if the object is read with many statements, each on few rows. */
    planning?: 'once';
    read: (tx: TenantTx, call: Call<Params> & { query: Static<Query> }) => Promise<Static<Body>>;
  },
): void {
  const { query } = operation;
  const response = { 200: operation.body, ...problems(...(operation.params ? ['not_found' as const] : []), ...(operation.problems ?? [])) };
  const schema: FastifySchema = { ...described(operation), ...(query ? { querystring: query } : {}), response };
  app.get(path, { config: { access: operation.access }, schema }, async (request, reply) => {
    const call = { actor: request.actor, params: request.params as Static<Params>, query: request.query as Static<Query> };
    const db = operation.planning ? deps.db.planning(operation.planning) : deps.db;
    const body = await db.withTenant(request.actor, (tx) => operation.read(tx, call));
    if (isVersioned(body)) setETag(reply, body);
    return reply.send(body);
  });
}

/** Applies a JSON merge patch. `check` compares the current version with `If-Match` and must be called before anything is written. */
export function patchRoute<Patch extends TSchema, Body extends TSchema, Params extends TObject = None>(
  app: App,
  deps: Pick<Resources, 'db'>,
  path: string,
  operation: Operation<Params> & {
    patch: Patch;
    body: Body;
    /** What must happen before the transaction, such as reading files. */
    prepare?: () => Promise<unknown>;
    change: (tx: TenantTx, call: Call<Params> & { patch: Static<Patch>; check: (current: { version: number }) => void }) => Promise<Static<Body>>;
  },
): void {
  const response = { 200: operation.body, ...problems('not_found', 'stale_version', ...(operation.problems ?? [])) };
  const schema: FastifySchema = { ...described(operation), headers: IfMatchHeaders, body: operation.patch, response };
  app.patch(path, { config: { access: operation.access }, schema }, async (request, reply) => {
    const expected = expectedVersions(request);
    const call = {
      actor: request.actor,
      params: request.params as Static<Params>,
      patch: request.body as Static<Patch>,
      check: (current: { version: number }) => assertVersion(current, expected),
    };
    await operation.prepare?.();
    const body = await deps.db.withTenant(request.actor, (tx) => operation.change(tx, call));
    if (isVersioned(body)) setETag(reply, body);
    return reply.send(body);
  });
}

/** Deletes one object and returns no content. */
export function deleteRoute<Params extends TObject = None>(
  app: App,
  deps: Pick<Resources, 'db'>,
  path: string,
  operation: Operation<Params> & { remove: (tx: TenantTx, call: Call<Params>) => Promise<unknown> },
): void {
  const response = { 204: Type.Null({ description: 'No content' }), ...problems('not_found', ...(operation.problems ?? [])) };
  const schema: FastifySchema = { ...described(operation), response };
  app.delete(path, { config: { access: operation.access }, schema }, async (request, reply) => {
    const call = { actor: request.actor, params: request.params as Static<Params> };
    await deps.db.withTenant(request.actor, (tx) => operation.remove(tx, call));
    return reply.code(204).send(null);
  });
}

function described<Params extends TObject>({ operationId, summary, description, tag, params }: Operation<Params>) {
  return { operationId, summary, description, tags: [tag], ...(params ? { params } : {}) };
}

function isVersioned(body: unknown): body is { version: number } {
  return typeof body === 'object' && body !== null && 'version' in body && typeof body.version === 'number';
}
