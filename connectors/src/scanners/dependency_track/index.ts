import type { ReportItem } from '@rrs/scan-reports';
import { record } from '@rrs/scan-reports/normalize.ts';
import { num, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError, defineScanner, type Http, type Json, Secret } from '../../core/contract.ts';
import { assetOf, findingOf, Project } from './record.ts';

const PAGE = 100;

const Config = Type.Object({
  api_url: Type.String({ title: 'Address', description: 'Of the API server, without /api: https://dependency-track.example.com', format: 'uri' }),
  tag: Type.Optional(Type.String({ title: 'Tag', description: 'Only projects with this tag. Leave empty for all active projects that the team may see' })),
});

const Findings = Type.Array(Type.Unknown());

export const dependencyTrack = defineScanner({
  id: 'dependency_track',
  name: 'Dependency-Track',
  version: 1,
  description: 'Vulnerable components of all active projects of OWASP Dependency-Track, with the state of their analysis.',
  documentation: 'https://docs.dependencytrack.org/integrations/rest-api/',
  permissions: 'an API key of a team with the permissions VIEW_PORTFOLIO and VIEW_VULNERABILITY and, where access is limited, access to the projects',
  config: Config,
  credentials: Type.Object({ api_key: Secret('API key', 'In Dependency-Track under Administration, Access Management, Teams') }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ 'x-api-key': credentials.api_key }),
  async check({ http, config }) {
    const { body } = await projectsPage(http, config, { pageNumber: 1, pageSize: 1 });
    for (const { uuid } of body.slice(0, 1)) await findingsPage(http, uuid, { pageNumber: 1, pageSize: 1 });
  },
  async *findings({ http, config, checkpoint }) {
    const before = positionOf(checkpoint);
    for (const project of await projectsOf(http, config)) {
      // Earlier ones are done, later ones begin at their beginning.
      if (before !== null && project.uuid < before.project) continue;
      const asset = assetOf(project);
      let at: Position = project.uuid === before?.project ? before : { project: project.uuid, page: 1, read: 0, total: 0, last: '' };
      while (at.page !== END) {
        const { body, headers } = await findingsPage(http, project.uuid, { pageNumber: at.page, pageSize: PAGE });
        const items = body.flatMap((finding, n): ReportItem[] => {
          const place = `findings of ${asset.name}, page ${at.page}[${n}]`;
          return [...record(place, () => findingOf(obj(finding), place, asset))];
        });
        const isFirst = at.page === 1;
        at = positionAfter(at, body, totalOf(headers, at.read + body.length));
        yield { items, ...(isFirst ? { covers: [asset] } : {}), checkpoint: { ...at } };
      }
    }
    // Only what is new could be asked for, not what is gone.
    return { coverage: 'complete', cursor: null };
  },
});

const END = 0;

/** A type and no interface, since it is a checkpoint, which is JSON. */
type Position = {
  project: string;
  /** The next one; 0 behind the last one. */
  page: number;
  read: number;
  total: number;
  /** The id of the finding that was read last. */
  last: string;
};

function positionOf(checkpoint: Json): Position | null {
  const { project, page, read, total, last } = obj(checkpoint);
  if (typeof project !== 'string') return null;
  return { project, page: num(page) ?? 1, read: num(read) ?? 0, total: num(total) ?? 0, last: str(last) ?? '' };
}

/** Up to version 4, the first page has all findings whatever size was asked for; what has all of them has no next page. */
function positionAfter(at: Position, page: readonly unknown[], total: number): Position {
  const [read, last] = [at.read + page.length, str(obj(page.at(-1)).matrix) ?? ''];
  if (last !== '' && last === at.last) throw incomplete(`the same page of findings of the project ${at.project} came again`);
  // What is gone moves the others to pages that were already read.
  if (total < at.total) throw incomplete(`findings of the project ${at.project} were removed while they were read. The next run tries again`);
  if (page.length === 0 && read < total) throw incomplete(`there should be ${total} findings of the project ${at.project}, but only ${read} came`);
  return { project: at.project, page: read < total ? at.page + 1 : END, read, total, last };
}

function totalOf(headers: Readonly<Record<string, string>>, read: number): number {
  const total = num(headers['x-total-count']);
  if (total === undefined)
    throw new ConnectorError('invalid_answer', `Dependency-Track does not say how many there are (X-Total-Count) besides these ${read}.`);
  return total;
}

function findingsPage(http: Http, project: string, page: { pageNumber: number; pageSize: number }) {
  return http.json(Findings, { path: `api/v1/finding/project/${encodeURIComponent(project)}`, query: { suppressed: true, ...page } });
}

function projectsPage(http: Http, { tag }: Static<typeof Config>, page: { pageNumber: number; pageSize: number }) {
  const path = tag?.trim() ? `api/v1/project/tag/${encodeURIComponent(tag.trim())}` : 'api/v1/project';
  return http.json(Type.Array(Project), { path, query: { excludeInactive: true, ...page } });
}

/** In the order of their ids. */
async function projectsOf(http: Http, config: Static<typeof Config>): Promise<Static<typeof Project>[]> {
  const projects = new Map<string, Static<typeof Project>>();
  for (let pageNumber = 1, total = 1, read = 0; read < total; pageNumber++) {
    const { body, headers } = await projectsPage(http, config, { pageNumber, pageSize: PAGE });
    read += body.length;
    total = totalOf(headers, read);
    for (const project of body) projects.set(project.uuid, project);
    if (body.length === 0 && read < total) throw incomplete(`there should be ${total} projects, but only ${read} came`);
  }
  return [...projects.values()].filter(({ active }) => active !== false).sort((a, b) => (a.uuid < b.uuid ? -1 : 1));
}

function incomplete(what: string): ConnectorError {
  return new ConnectorError('incomplete', `Not everything could be read from Dependency-Track: ${what}.`);
}
