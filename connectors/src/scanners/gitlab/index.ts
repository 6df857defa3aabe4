import type { Asset } from '@rrs/scan-reports';
import { obj } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError, defineScanner, type Http, type Json, Secret } from '../../core/contract.ts';
import { Answer, projectsQuery, type Scope, vulnerabilitiesQuery, whichQuery } from './query.ts';
import { projectAsset, readVulnerabilities } from './report.ts';

const PAGE = 100;
const ATTEMPTS = 4;
/** A checkpoint after which nothing comes. */
const END = 'end';

const permissions = 'an access token with the scope read_api, of somebody who may see the vulnerability report (role Developer or above; GitLab Ultimate)';

export const gitlab = defineScanner({
  id: 'gitlab',
  name: 'GitLab',
  version: 1,
  description: 'The vulnerability report of a GitLab group, with its subgroups, or of a project. Needs GitLab Ultimate.',
  documentation: 'https://docs.gitlab.com/api/graphql/reference/#vulnerability',
  permissions,
  config: Type.Object({
    api_url: Type.String({ title: 'Address', description: 'https://gitlab.com, or that of your own GitLab', format: 'uri', default: 'https://gitlab.com' }),
    path: Type.String({ title: 'Group or project', description: 'Its full path, as in the address of its page: acme or acme/platform/shop', minLength: 1 }),
  }),
  credentials: Type.Object({ token: Secret('Access token', 'In GitLab under Settings, Access tokens, of the group, the project or a user') }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ authorization: `Bearer ${credentials.token}` }),
  async check({ http, config }) {
    const { scope } = await placeOf(http, config.path);
    await vulnerabilities(http, scope, { path: config.path, first: 1 });
  },
  async *findings({ http, config, checkpoint }) {
    const { path } = config;
    const { scope, webUrl } = await placeOf(http, path);
    let after = typeof checkpoint === 'string' ? checkpoint : '';
    if (checkpoint === null) yield { items: [], covers: scope === 'group' ? await projectsOf(http, path) : assetsOf([{ webUrl }]), checkpoint: after };
    while (after !== END) {
      const { nodes, pageInfo } = await vulnerabilities(http, scope, { path, first: PAGE, after: after || null });
      const items = await readVulnerabilities(nodes, `vulnerabilities of ${path} after ${after || 'the start'}`);
      const next = nextCursor(pageInfo, after) ?? END;
      yield { items, checkpoint: next };
      after = next;
    }
    // There is no way to ask for changes.
    return { coverage: 'complete', cursor: null };
  },
});

type Data = NonNullable<Static<typeof Answer>['data']>;
type Page = NonNullable<NonNullable<Data['group']>['vulnerabilities']>;

/** Mistakes come with the status 200, and a query that took too long is one of them. */
async function ask(http: Http, query: string, variables: Json): Promise<Data> {
  for (let attempt = 1; ; attempt++) {
    const { body } = await http.json(Answer, { method: 'POST', path: 'api/graphql', json: { query, variables }, repeatable: true });
    const said = body.errors?.map(({ message }) => message).join(' ') ?? '';
    if (body.data && said === '') return body.data;
    if (!/time(?:d )?out|try again/i.test(said))
      throw new ConnectorError('configuration', `GitLab refused the query. It may be too old, or not have this feature. It says: ${said || 'nothing'}`);
    if (attempt === ATTEMPTS) throw new ConnectorError('unavailable', `GitLab went on failing at the query. It says: ${said}`);
    await http.pause(attempt);
  }
}

async function placeOf(http: Http, path: string): Promise<{ scope: Scope; webUrl: string }> {
  const { group, project } = await ask(http, whichQuery, { path });
  if (group) return { scope: 'group', webUrl: group.webUrl };
  if (project) return { scope: 'project', webUrl: project.webUrl };
  throw new ConnectorError('configuration', `GitLab knows no group or project ${path}, or hides it: check the path, and that there is ${permissions}.`);
}

async function vulnerabilities(http: Http, scope: Scope, variables: { path: string; first: number; after?: string | null }): Promise<Page> {
  const { [scope]: holder } = await ask(http, vulnerabilitiesQuery(scope), variables);
  // What one may not see is null.
  if (!holder?.vulnerabilities)
    throw new ConnectorError('credentials', `GitLab does not show the vulnerabilities of ${variables.path} with these credentials. They need: ${permissions}.`);
  return holder.vulnerabilities;
}

async function projectsOf(http: Http, path: string): Promise<Asset[]> {
  const projects: unknown[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const { group }: Data = await ask(http, projectsQuery, { path, first: PAGE, after: after || null });
    projects.push(...(group?.projects?.nodes ?? []));
    after = nextCursor(group?.projects?.pageInfo, after);
  }
  return assetsOf(projects.filter((project) => obj(project).archived !== true));
}

function assetsOf(projects: readonly unknown[]): Asset[] {
  return projects.flatMap((project) => projectAsset(project) ?? []);
}

function nextCursor(info: Page['pageInfo'] | undefined, asked: string): string | null {
  if (!info?.hasNextPage) return null;
  if (!info.endCursor || info.endCursor === asked) throw new ConnectorError('incomplete', 'GitLab says that there is more, and sends the same page again.');
  return info.endCursor;
}
