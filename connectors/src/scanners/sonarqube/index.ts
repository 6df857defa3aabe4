import { date, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { defineScanner, type FindingBatch, type Http, type Unread } from '../../core/contract.ts';
import { assertUnmoved } from '../../core/lists.ts';
import { itemsOf } from '../../core/reports.ts';
import { Secret } from '../../core/settings/fields.ts';
import { assertSomeRead, unreadBecause } from '../../core/unread.ts';
import { incomplete, MAX_RESULTS, Paging, type Position, positionAfter, positionOf, startOf } from './position.ts';

const PAGE_SIZE = 500;

const Config = Type.Object({
  api_url: Type.String({
    title: 'URL',
    examples: ['https://sonarqube.example.com', 'https://sonarcloud.io'],
    description: 'URL of SonarQube Server, such as https://sonarqube.example.com, or https://sonarcloud.io for SonarQube Cloud.',
    format: 'uri',
    default: 'https://sonarcloud.io',
  }),
  organization: Type.Optional(
    Type.String({ title: 'Organization', examples: ['acme'], description: 'Key of the organization. Required only for SonarQube Cloud.' }),
  ),
  projects: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      title: 'Projects',
      examples: [['acme_shop']],
      description: 'Keys of the projects to read, shown under Project Information. Leave empty for all projects that the token can browse.',
      default: [],
      maxItems: 10_000,
    }),
  ),
});

const Components = Type.Object({ paging: Paging, components: Type.Array(Type.Object({ key: Type.String() })) });
const Records = Type.Optional(Type.Array(Type.Unknown()));
const Page = Type.Object({ paging: Paging, issues: Records, hotspots: Records, rules: Records });

export const sonarqube = defineScanner({
  id: 'sonarqube',
  name: 'SonarQube',
  version: 1,
  description: 'Vulnerabilities and security hotspots on the main branches of SonarQube Server or SonarQube Cloud projects.',
  documentation: 'https://next.sonarqube.com/sonarqube/web_api/api/issues/search',
  permissions: 'a token of a user with the permission Browse on the projects',
  config: Config,
  credentials: Type.Object({
    token: Secret('User token', 'Create one in SonarQube under My Account, Security.', { link: 'https://sonarcloud.io/account/security' }),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ authorization: `Bearer ${credentials.token}` }),
  async check({ http, config }) {
    const [project] = config.projects ?? [];
    if (project === undefined) await componentsPage(http, config, { p: 1, ps: 1 });
    else await http.getJson('api/hotspots/search', Page, { projectKey: project, p: 1, ps: 1 });
  },
  async *findings({ http, config, checkpoint }) {
    const before = positionOf(checkpoint);
    const projects = await projectsOf(http, config);
    let unread = before?.unread ?? 0;
    for (const project of projects) {
      // Skips finished projects. Later ones start at their first page.
      if (before !== null && project < before.project) continue;
      let at: Position = project === before?.project ? before : { ...startOf(project), unread };
      while (at.part !== 'end') {
        const page: Static<typeof Page> | Unread = await http
          .getJson(`api/${at.part}/search`, Page, queryOf(at, config))
          .catch((error: unknown) => unreadBecause(error, `project ${project}`, { type: 'repository', name: project }));
        if ('reason' in page) {
          assertSomeRead(++unread, projects.length, page);
          at = { ...at, part: 'end', unread };
          yield { items: [], unread: [page], checkpoint: { ...at } };
          continue;
        }
        const records = page[at.part] ?? [];
        const { paging, rules } = page;
        const items = await itemsOf('sonarqube', JSON.stringify({ paging, [at.part]: records, rules }), `${at.part} of ${project}, page ${at.page}`);
        const coverage = at.part === 'issues' && at.page === 1 && at.since === '' ? await coverageOf(http, project, config) : {};
        if (at.page > 1) await assertUnmoved(`The ${at.part} of ${project}`, at.last, () => keyAt(http, at, config));
        at = positionAfter(at, paging, { count: records.length, lastCreated: str(obj(records.at(-1)).creationDate), lastKey: keyOf(records.at(-1)) ?? '' });
        yield { items, ...coverage, checkpoint: { ...at } };
      }
    }
    // Hotspots cannot be filtered by the time of their last change.
    return { coverage: 'complete', cursor: null };
  },
});

const Analyses = Type.Object({ analyses: Type.Array(Type.Object({ date: Type.String() })) });

/** The last analysis of the main branch. A project that was never analyzed, or whose analyses are not visible, is only partially covered. */
async function coverageOf(
  http: Http,
  project: string,
  { organization }: Static<typeof Config>,
): Promise<Pick<FindingBatch, 'covers' | 'partiallyCovers' | 'scans'>> {
  const asset = { type: 'repository', name: project } as const;
  const query = { project, ps: 1, organization: organization || null };
  const found = await http.getJson('api/project_analyses/search', Analyses, query).catch((error: unknown) => unreadBecause(error, project, asset));
  const analyzed = 'reason' in found ? null : date(found.analyses[0]?.date);
  return analyzed ? { covers: [asset], scans: [{ asset, finished_at: analyzed }] } : { partiallyCovers: [asset] };
}

function keyOf(record: unknown): string | undefined {
  return str(obj(record).key);
}

/** The key of the record before the current page. */
async function keyAt(http: Http, at: Position, config: Static<typeof Config>): Promise<string | undefined> {
  const page: Static<typeof Page> = await http.getJson(`api/${at.part}/search`, Page, { ...queryOf(at, config), p: at.read, ps: 1 });
  return keyOf((at.part === 'hotspots' ? page.hotspots : page.issues)?.[0]);
}

/** Uses the older parameter names, which all versions and the cloud support. */
function queryOf({ project, part, page, since }: Position, { organization }: Static<typeof Config>) {
  const common = { p: page, ps: PAGE_SIZE, organization: organization || null };
  if (part === 'hotspots') return { ...common, projectKey: project };
  const order = { s: 'CREATION_DATE', asc: true, createdAfter: since || null };
  return { ...common, ...order, componentKeys: project, types: 'VULNERABILITY', additionalFields: 'rules' };
}

/** The project keys, sorted. */
async function projectsOf(http: Http, config: Static<typeof Config>): Promise<string[]> {
  const keys = new Set(config.projects);
  if (keys.size > 0) return [...keys].sort();
  for (let p = 1, isMore = true; isMore; p++) {
    const { paging, components } = await componentsPage(http, config, { p, ps: PAGE_SIZE });
    if (paging.total > MAX_RESULTS) throw incomplete(`there are ${paging.total} projects. Set the projects to read in the configuration`);
    if (paging.pageIndex !== p) throw incomplete('the same page of projects was sent twice');
    for (const { key } of components) keys.add(key);
    isMore = p * paging.pageSize < paging.total;
  }
  return [...keys].sort();
}

function componentsPage(http: Http, { organization }: Static<typeof Config>, page: { p: number; ps: number }) {
  return http.getJson('api/components/search', Components, { qualifiers: 'TRK', organization: organization || null, ...page });
}
