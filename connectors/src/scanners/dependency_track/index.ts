import type { ReportItem } from '@rrs/scan-reports';
import { record } from '@rrs/scan-reports/normalize.ts';
import { num, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineScanner, type Http, type Json } from '../../core/contract.ts';
import { assertUnmoved } from '../../core/lists.ts';
import { Secret } from '../../core/settings/fields.ts';
import { assertSomeRead, unreadBecause } from '../../core/unread.ts';
import { assetOf, coverageOf, findingOf, Project } from './record.ts';

const PAGE_SIZE = 100;

const Config = Type.Object({
  api_url: Type.String({
    title: 'API URL',
    examples: ['https://dependency-track.example.com'],
    description: 'URL of the API server without /api, such as https://dependency-track.example.com.',
    format: 'uri',
  }),
  tag: Type.Optional(
    Type.String({
      title: 'Tag',
      examples: ['production'],
      description: 'Reads only projects with this tag. Leave empty for all active projects that the team can see.',
    }),
  ),
});

const Findings = Type.Array(Type.Unknown());

export const dependencyTrack = defineScanner({
  id: 'dependency_track',
  name: 'Dependency-Track',
  version: 1,
  description: 'Vulnerable components of all active projects in OWASP Dependency-Track, with the state of their analysis.',
  documentation: 'https://docs.dependencytrack.org/integrations/rest-api/',
  permissions: 'an API key of a team with the permissions VIEW_PORTFOLIO and VIEW_VULNERABILITY and, if access is restricted, access to the projects',
  config: Config,
  credentials: Type.Object({
    api_key: Secret('API key', 'Create one in Dependency-Track under Administration, Access Management, Teams.', {
      link: 'https://docs.dependencytrack.org/integrations/rest-api/',
    }),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ 'x-api-key': credentials.api_key }),
  async check({ http, config }) {
    const { body } = await projectsPage(http, config, { pageNumber: 1, pageSize: 1 });
    for (const { uuid } of body.slice(0, 1)) await findingsPage(http, uuid, { pageNumber: 1, pageSize: 1 });
  },
  async *findings({ http, config, checkpoint }) {
    const before = positionOf(checkpoint);
    const projects = await projectsOf(http, config);
    let unread = before?.unread ?? 0;
    for (const project of projects) {
      // Skips finished projects. Later ones start at their first page.
      if (before !== null && project.uuid < before.project) continue;
      const asset = assetOf(project);
      let at: Position = project.uuid === before?.project ? before : { project: project.uuid, page: 1, read: 0, total: 0, last: '', unread };
      while (at.page !== END) {
        const page = await findingsPage(http, project.uuid, { pageNumber: at.page, pageSize: PAGE_SIZE }).catch((error: unknown) =>
          unreadBecause(error, `project ${asset.name}`, asset),
        );
        if ('reason' in page) {
          assertSomeRead(++unread, projects.length, page);
          at = { ...at, page: END, unread };
          yield { items: [], unread: [page], checkpoint: { ...at } };
          continue;
        }
        const { body, headers } = page;
        const items = body.flatMap((finding, n): ReportItem[] => {
          const place = `findings of ${asset.name}, page ${at.page}[${n}]`;
          return [...record(place, () => findingOf(obj(finding), place, asset))];
        });
        const isFirst = at.page === 1;
        if (!isFirst) await assertUnmoved(`The findings of ${asset.name}`, at.last, () => matrixAt(http, at));
        at = positionAfter(at, body, totalOf(headers, at.read + body.length));
        yield { items, ...(isFirst ? coverageOf(asset, project) : {}), checkpoint: { ...at } };
      }
    }
    // The API can list new findings, but not removed ones.
    return { coverage: 'complete', cursor: null };
  },
});

const END = 0;

/** A type alias, because an interface is not assignable to Json. */
type Position = {
  project: string;
  /** The next page. 0 after the last one. */
  page: number;
  read: number;
  total: number;
  /** The id of the last finding read. */
  last: string;
  /** The number of projects so far that could not be read. */
  unread: number;
};

function positionOf(checkpoint: Json): Position | null {
  const { project, page, read, total, last, unread } = obj(checkpoint);
  if (typeof project !== 'string') return null;
  return { project, page: num(page) ?? 1, read: num(read) ?? 0, total: num(total) ?? 0, last: str(last) ?? '', unread: num(unread) ?? 0 };
}

/** Up to version 4, the first page contains all findings, whatever the page size. */
function positionAfter(at: Position, page: readonly unknown[], total: number): Position {
  const [read, last] = [at.read + page.length, str(obj(page.at(-1)).matrix) ?? ''];
  if (last !== '' && last === at.last) throw incomplete(`the same page of findings of the project ${at.project} was sent twice`);
  // A removed finding moves the others to pages that were already read.
  if (total < at.total) throw incomplete(`findings of the project ${at.project} were removed during the run. The next run tries again`);
  if (page.length === 0 && read < total) throw incomplete(`the project ${at.project} should have ${total} findings, but only ${read} were sent`);
  return { ...at, page: read < total ? at.page + 1 : END, read, total, last };
}

/** The id of the finding before the current page. */
async function matrixAt(http: Http, { project, read }: Position): Promise<string | undefined> {
  const { body } = await findingsPage(http, project, { pageNumber: read, pageSize: 1 });
  return str(obj(body[0]).matrix);
}

function totalOf(headers: Readonly<Record<string, string>>, read: number): number {
  const total = num(headers['x-total-count']);
  if (total === undefined)
    throw new ConnectorError('invalid_answer', `Dependency-Track did not send the total number of records (X-Total-Count) after ${read}.`);
  return total;
}

function findingsPage(http: Http, project: string, page: { pageNumber: number; pageSize: number }) {
  return http.json(Findings, { path: `api/v1/finding/project/${encodeURIComponent(project)}`, query: { suppressed: true, ...page } });
}

function projectsPage(http: Http, { tag }: Static<typeof Config>, page: { pageNumber: number; pageSize: number }) {
  const path = tag?.trim() ? `api/v1/project/tag/${encodeURIComponent(tag.trim())}` : 'api/v1/project';
  return http.json(Type.Array(Project), { path, query: { excludeInactive: true, ...page } });
}

/** Sorted by id. */
async function projectsOf(http: Http, config: Static<typeof Config>): Promise<Static<typeof Project>[]> {
  const projects = new Map<string, Static<typeof Project>>();
  for (let pageNumber = 1, total = 1, read = 0; read < total; pageNumber++) {
    const { body, headers } = await projectsPage(http, config, { pageNumber, pageSize: PAGE_SIZE });
    read += body.length;
    total = totalOf(headers, read);
    for (const project of body) projects.set(project.uuid, project);
    if (body.length === 0 && read < total) throw incomplete(`there should be ${total} projects, but only ${read} were sent`);
  }
  return [...projects.values()].filter(({ active }) => active !== false).sort((a, b) => (a.uuid < b.uuid ? -1 : 1));
}

function incomplete(what: string): ConnectorError {
  return new ConnectorError('incomplete', `The data from Dependency-Track is incomplete: ${what}.`);
}
