import type { Asset, ReportItem } from '@rrs/scan-reports';
import { date, obj } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { defineScanner, type FindingBatch, type Http } from '../../core/contract.ts';
import { eachPageOnce } from '../../core/lists.ts';
import { itemsOf } from '../../core/reports.ts';
import { Secret } from '../../core/settings/fields.ts';

const VERSION = '2024-10-15';
/** The checkpoint after the last page. */
const END = 'end';
const Link = Type.Union([Type.String(), Type.Object({ href: Type.String() }), Type.Null()]);
const Page = Type.Object({ data: Type.Array(Type.Unknown()), links: Type.Optional(Type.Object({ next: Type.Optional(Link) })) });
const Project = Type.Object({
  id: Type.String(),
  attributes: Type.Object({
    name: Type.String(),
    status: Type.Optional(Type.String()),
    target_reference: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
  meta: Type.Optional(Type.Unknown()),
});
const ProjectPage = Type.Object({ data: Type.Array(Project), links: Type.Optional(Type.Object({ next: Type.Optional(Link) })) });

export const snyk = defineScanner({
  id: 'snyk',
  name: 'Snyk',
  version: 1,
  description: 'Issues in all projects of a Snyk organization: dependencies, containers, code and infrastructure.',
  documentation: 'https://docs.snyk.io/snyk-api/reference/issues',
  permissions: 'an API token of a service account or user in this region with org.read, org.project.read and org.project.snapshot.read',
  config: Type.Object({
    api_url: Type.String({
      title: 'API URL',
      examples: ['https://api.snyk.io/rest', 'https://api.us.snyk.io/rest', 'https://api.eu.snyk.io/rest', 'https://api.au.snyk.io/rest'],
      description: 'URL for the region of the organization.',
      format: 'uri',
      default: 'https://api.snyk.io/rest',
    }),
    organization_id: Type.String({
      title: 'Organization ID',
      examples: ['3a6b1e50-5d0c-4b1f-9a55-0f6f0c6d1a01'],
      description: 'ID of the organization, in Snyk under Settings, General.',
      minLength: 1,
    }),
  }),
  credentials: Type.Object({
    token: Secret('API token', 'Create one in Snyk under Account settings or Service accounts.', { link: 'https://app.snyk.io/account' }),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ authorization: `token ${credentials.token}`, accept: 'application/vnd.api+json' }),
  async check({ http, config }) {
    await http.getJson(`orgs/${encodeURIComponent(config.organization_id)}/projects`, Page, { version: VERSION, limit: 10 });
  },
  async *findings({ http, config, checkpoint, cursor, startedAt }) {
    const org = `orgs/${encodeURIComponent(config.organization_id)}`;
    const projects = await projectsOf(http, org);
    const changes = typeof cursor === 'string' ? { updated_after: cursor } : {};
    let after = typeof checkpoint === 'string' ? checkpoint : '';
    if (checkpoint === null) yield { items: [], ...(cursor === null ? coverageOf(projects) : {}), checkpoint: after };
    while (after !== END) {
      const page = await http.getJson(`${org}/issues`, Page, { version: VERSION, limit: 100, ...changes, starting_after: after || null });
      const items = await itemsOf('snyk', JSON.stringify(page), `issues after ${after || 'the start'}`);
      after = nextCursor(page.links?.next) ?? END;
      yield { items: items.map((item) => named(item, projects)), checkpoint: after };
    }
    return { coverage: cursor === null ? 'complete' : 'changes', cursor: startedAt.toISOString() };
  },
});

interface Tested {
  asset: Asset;
  /** Snyk no longer tests inactive projects. */
  isActive: boolean;
  /** When the issues were last counted, which is after each test. */
  testedAt: Date | null;
}
type Projects = Map<string, Tested>;

function coverageOf(projects: Projects): Pick<FindingBatch, 'covers' | 'partiallyCovers' | 'scans'> {
  const all = [...projects.values()];
  const active = all.filter(({ isActive }) => isActive);
  return {
    covers: active.map(({ asset }) => asset),
    partiallyCovers: all.filter(({ isActive }) => !isActive).map(({ asset }) => asset),
    scans: active.flatMap(({ asset, testedAt }) => (testedAt ? [{ asset, finished_at: testedAt }] : [])),
  };
}

/** Issues contain only the id of their project. */
async function projectsOf(http: Http, org: string): Promise<Projects> {
  const projects: Projects = new Map();
  const visit = eachPageOnce('the projects of Snyk');
  for (let after: string | null = ''; after !== null; ) {
    visit(after);
    const page: Static<typeof ProjectPage> = await http.getJson(`${org}/projects`, ProjectPage, {
      version: VERSION,
      limit: 100,
      'meta.latest_issue_counts': true,
      starting_after: after || null,
    });
    for (const { id, attributes, meta } of page.data) {
      const asset: Asset = { type: 'repository', name: attributes.name, identifiers: [{ kind: 'cloud_id', value: id }] };
      const testedAt = date(obj(obj(meta).latest_issue_counts).updated_at);
      projects.set(id, { asset, isActive: attributes.status !== 'inactive', testedAt });
    }
    after = nextCursor(page.links?.next);
  }
  return projects;
}

/** Uses only the cursor of the link, because its path may or may not start with /rest. */
function nextCursor(link: Static<typeof Link> | undefined): string | null {
  const href = typeof link === 'string' ? link : link?.href;
  return href ? new URL(href, 'https://api.snyk.io').searchParams.get('starting_after') : null;
}

function named(item: ReportItem, projects: Projects): ReportItem {
  if ('rejection' in item || item.observation.asset?.type !== 'repository') return item;
  return { observation: { ...item.observation, asset: projects.get(item.observation.asset.name)?.asset ?? item.observation.asset } };
}
