import { sql } from 'kysely';
import { newId } from '../../shared/ids.ts';
import { type ApiAnswer, startApi, type TestOrganization } from './api.ts';
import type { DescribedRoute } from './routes.ts';
import { bodySamples, type PathValues, type SubjectApi, subjectKey, subjectsOf } from './subjects.ts';

interface Call {
  /** An API key. Without one, the request has no credential. */
  as?: string;
  /** Values of the path parameters. Default: IDs that do not exist. */
  path?: PathValues;
  /** The organization that owns the resources in the body. */
  owner?: TestOrganization;
}

export type Walk = Awaited<ReturnType<typeof startWalk>>;

/** An API with two organizations, and a valid request for each of its routes. */
export async function startWalk() {
  const api = await startApi({ config: walkConfig });
  return { ...(await walkOf(api)), api, close: () => api.close() };
}

/** The settings of a service that is walked. */
export const walkConfig = { RRS_TRUSTED_PROXIES: '127.0.0.1', RRS_OUTBOUND_ALLOW: '127.0.0.1' };

/** Requests to a service that may run in another process. */
export async function walkOf(api: SubjectApi) {
  const subjects = subjectsOf(api);
  const dump = await dumpStatement(api);
  let calls = 0;

  return {
    subjects,
    /** Creates the resources that the path of a route refers to. */
    subjectOf(route: DescribedRoute, organization: TestOrganization): Promise<PathValues> {
      const create = subjects[subjectKey(route, subjects)];
      if (!create) throw new Error(`${route.operationId}: add an entry for ${route.path} to testing/http/subjects.ts`);
      return create(organization);
    },
    /** Sends a valid request, each from another IP address, so that failed sign-ins do not add up. */
    async call(route: DescribedRoute, { as, path = [], owner }: Call): Promise<ApiAnswer> {
      const body = await bodyOf(api, route, { owner, path });
      const values = [...path];
      const url = route.path.replaceAll(/\{\w+\}/g, () => values.shift() ?? newId());
      const query = route.operation.parameters.filter((parameter) => parameter.in === 'query' && parameter.required);
      const search = query.length > 0 ? `?${new URLSearchParams(query.map(({ name, example }): [string, string] => [name, String(example)]))}` : '';
      // No worker is running, so waiting for a result would only delay the response.
      const headers = { 'x-forwarded-for': `198.51.100.${++calls % 256}`, prefer: 'wait=0' };
      return api.call(route.method, url + search, { headers, ...(as === undefined ? {} : { as }), ...(body === undefined ? {} : { body }) });
    },
    /** Everything that is stored for an organization, for comparison. */
    async everythingOf({ id }: TestOrganization): Promise<string> {
      const { rows } = await api.db.withSystem((tx) => sql<{ all: string }>`${sql.raw(dump.replaceAll('$org', `'${id}'`))}`.execute(tx));
      return JSON.stringify(rows);
    },
  };
}

/** The example of the description, with values that do not collide with existing ones. */
async function bodyOf(
  api: SubjectApi,
  { operationId, operation }: DescribedRoute,
  { owner, path }: { owner: TestOrganization | undefined; path: PathValues },
): Promise<object | string | undefined> {
  const example = Object.values(operation.requestBody?.content ?? {})[0]?.example as Record<string, unknown> | string | undefined;
  if (example === undefined || typeof example === 'string') return example;
  return {
    ...example,
    ...('email' in example ? { email: `${newId()}@example.com` } : {}),
    ...('role' in example ? { role: 'viewer' } : {}),
    ...('provider' in example && 'name' in example ? { name: newId() } : {}),
    ...(owner ? await bodySamples[operationId]?.(api, owner, path) : {}),
  };
}

/** One statement that reads all tables of an organization. The last use of a key is no change. */
async function dumpStatement(api: SubjectApi): Promise<string> {
  const tables = await api.db.systemQuery<{ name: string }>(
    'tables_with_org_id',
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id'
     where c.relnamespace = 'rrs'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and has_table_privilege(c.oid, 'select') order by 1`,
    [],
  );
  const selects = tables.map(
    ({ name }) => `select '${name}' as table, jsonb_agg(to_jsonb(t) - 'last_used_at' order by t::text) as rows from rrs.${name} t where org_id = $org`,
  );
  return [`select 'organizations' as table, to_jsonb(o) as rows from rrs.organizations o where id = $org`, ...selects].join(' union all ');
}
