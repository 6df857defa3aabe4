import type { Asset, ReportItem } from '@rrs/scan-reports';
import { obj } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineScanner, type Http, type Json } from '../../core/contract.ts';
import { eachPageOnce } from '../../core/lists.ts';
import { Secret } from '../../core/settings/fields.ts';
import { projectsQuery, ResponseBody, type Scope, scopeQuery, vulnerabilitiesQuery } from './query.ts';
import { projectAsset, readVulnerabilities } from './report.ts';

const PAGE_SIZE = 100;
const ATTEMPTS = 4;
/** The checkpoint after the last page. */
const END = 'end';

const permissions = 'an access token with the scope read_api and at least the role Developer, which can view the vulnerability report (GitLab Ultimate)';

export const gitlab = defineScanner({
  id: 'gitlab',
  name: 'GitLab',
  version: 1,
  description: 'The vulnerability report of a GitLab group with its subgroups, or of a project. Requires GitLab Ultimate.',
  documentation: 'https://docs.gitlab.com/api/graphql/reference/#vulnerability',
  permissions,
  config: Type.Object({
    api_url: Type.String({
      title: 'URL',
      description: 'https://gitlab.com, or the URL of a self-hosted GitLab.',
      format: 'uri',
      default: 'https://gitlab.com',
    }),
    path: Type.String({
      title: 'Group or project',
      examples: ['acme/platform'],
      description: 'Full path of the group or project, as in its URL: acme or acme/platform/shop.',
      minLength: 1,
    }),
  }),
  credentials: Type.Object({
    token: Secret('Access token', 'Create one in GitLab under Settings, Access tokens, of the group, the project or a user.', {
      link: 'https://gitlab.com/-/user_settings/personal_access_tokens',
    }),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ authorization: `Bearer ${credentials.token}` }),
  async check({ http, config }) {
    const { scope } = await scopeOf(http, config.path);
    await vulnerabilities(http, scope, { path: config.path, first: 1 });
  },
  async *findings({ http, config, checkpoint }) {
    const { path } = config;
    const { scope, webUrl } = await scopeOf(http, path);
    let after = typeof checkpoint === 'string' ? checkpoint : '';
    // GitLab keeps resolved vulnerabilities in the report and does not state when a project was last scanned, so a missing one is not necessarily fixed.
    if (checkpoint === null) yield { items: [], partiallyCovers: scope === 'group' ? await projectsOf(http, path) : assetsOf([{ webUrl }]), checkpoint: after };
    while (after !== END) {
      const { nodes, pageInfo } = await vulnerabilities(http, scope, { path, first: PAGE_SIZE, after: after || null });
      const items = await readVulnerabilities(nodes, `vulnerabilities of ${path} after ${after || 'the start'}`);
      const next = nextCursor(pageInfo, after) ?? END;
      yield { items, partiallyCovers: observedAssets(items), checkpoint: next };
      after = next;
    }
    // The API cannot list changes.
    return { coverage: 'complete', cursor: null };
  },
});

type Data = NonNullable<Static<typeof ResponseBody>['data']>;
type Page = NonNullable<NonNullable<Data['group']>['vulnerabilities']>;

/** GitLab reports errors with the status 200, including queries that timed out. */
async function send(http: Http, query: string, variables: Json): Promise<Data> {
  for (let attempt = 1; ; attempt++) {
    const { body } = await http.json(ResponseBody, { method: 'POST', path: 'api/graphql', json: { query, variables }, repeatable: true });
    const errors = body.errors?.map(({ message }) => message).join(' ') ?? '';
    if (body.data && errors === '') return body.data;
    if (!/time(?:d )?out|try again/i.test(errors))
      throw new ConnectorError(
        'configuration',
        `GitLab refused the query. Its version may be too old or lack this feature. Response: ${errors || 'no message'}`,
      );
    if (attempt === ATTEMPTS) throw new ConnectorError('unavailable', `The GitLab query failed repeatedly. Response: ${errors}`);
    await http.pause(attempt);
  }
}

async function scopeOf(http: Http, path: string): Promise<{ scope: Scope; webUrl: string }> {
  const { group, project } = await send(http, scopeQuery, { path });
  if (group) return { scope: 'group', webUrl: group.webUrl };
  if (project) return { scope: 'project', webUrl: project.webUrl };
  throw new ConnectorError(
    'configuration',
    `GitLab has no group or project ${path}, or it is not visible. Check the path and the credentials. They need: ${permissions}.`,
  );
}

async function vulnerabilities(http: Http, scope: Scope, variables: { path: string; first: number; after?: string | null }): Promise<Page> {
  const { [scope]: holder } = await send(http, vulnerabilitiesQuery(scope), variables);
  // GitLab returns null for what the token may not read.
  if (!holder?.vulnerabilities)
    throw new ConnectorError('credentials', `GitLab did not return the vulnerabilities of ${variables.path} for these credentials. They need: ${permissions}.`);
  return holder.vulnerabilities;
}

async function projectsOf(http: Http, path: string): Promise<Asset[]> {
  const projects: unknown[] = [];
  const visit = eachPageOnce(`the projects of ${path}`);
  for (let after: string | null = ''; after !== null; ) {
    visit(after);
    const { group }: Data = await send(http, projectsQuery, { path, first: PAGE_SIZE, after: after || null });
    projects.push(...(group?.projects?.nodes ?? []));
    after = nextCursor(group?.projects?.pageInfo, after);
  }
  return assetsOf(projects.filter((project) => obj(project).archived !== true));
}

function assetsOf(projects: readonly unknown[]): Asset[] {
  return projects.flatMap((project) => projectAsset(project) ?? []);
}

/** Container images and web applications, which are not projects. */
function observedAssets(items: readonly ReportItem[]): Asset[] {
  const assets = items.flatMap((item) => ('observation' in item ? (item.observation.asset ?? []) : []));
  return [...new Map(assets.map((asset) => [`${asset.type} ${asset.name}`, asset])).values()];
}

function nextCursor(info: Page['pageInfo'] | undefined, requested: string): string | null {
  if (!info?.hasNextPage) return null;
  if (!info.endCursor || info.endCursor === requested) throw new ConnectorError('incomplete', 'GitLab reports more pages but sent the same one again.');
  return info.endCursor;
}
