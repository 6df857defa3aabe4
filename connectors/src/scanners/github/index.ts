import { date, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError, defineScanner, type Json, Secret } from '../../core/contract.ts';
import { itemsOf } from '../../core/reports.ts';
import { alertsOf, kinds, type Part, permissions } from './alerts.ts';
import { createCoverageCheck, repositoryPath } from './repositories.ts';

/** The clock of GitHub may differ. */
const OVERLAP_MS = 3_600_000;

const Config = Type.Object({
  api_url: Type.String({
    title: 'API URL',
    description: 'https://api.github.com, or https://<host>/api/v3 for GitHub Enterprise Server.',
    format: 'uri',
    default: 'https://api.github.com',
  }),
  organization: Type.Optional(
    Type.String({
      title: 'Organization',
      description: 'Reads all repositories of this organization. The name as in https://github.com/<name>. Leave empty if you set repositories.',
    }),
  ),
  repositories: Type.Optional(
    Type.Array(Type.String({ pattern: '^[^/\\s]+/[^/\\s]+$' }), {
      title: 'Repositories',
      description: 'Repositories to read, as owner/name. Leave empty for all repositories of the organization.',
      default: [],
      maxItems: 1_000,
    }),
  ),
  kinds: Type.Optional(
    Type.Array(Type.Union([Type.Literal('dependabot'), Type.Literal('code_scanning'), Type.Literal('secret_scanning')]), {
      title: 'Kinds of alerts',
      description: 'Kinds of alerts to read. Leave empty for all. With a selection, only alerts that GitHub reports as fixed are closed.',
      default: [],
    }),
  ),
});

export const github = defineScanner({
  id: 'github',
  name: 'GitHub',
  version: 1,
  description: 'Dependabot, code scanning and secret scanning alerts of a GitHub organization or of selected repositories.',
  documentation: 'https://docs.github.com/en/rest/dependabot/alerts',
  permissions,
  config: Config,
  credentials: Type.Object({ token: Secret('Access token', 'Create one in GitHub under Settings, Developer settings, Personal access tokens.') }),
  problems: ({ config }) => (hasTarget(config) ? [] : [{ path: '/config/organization', detail: 'is required if there is no repository' }]),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({
    authorization: `Bearer ${credentials.token}`,
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
  }),
  /** https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit */
  rateLimited(status, headers) {
    if (status !== 403 && status !== 429) return null;
    if (headers['retry-after'] !== undefined) return 0;
    if (headers['x-ratelimit-remaining'] !== '0') return status === 429 ? 60 : null;
    const now = Date.parse(headers.date ?? '') || Date.now();
    return Math.max(60, Number(headers['x-ratelimit-reset'] ?? 0) - now / 1000);
  },
  async check({ http, config }) {
    const [first] = targetsOf(config);
    for (const { kind, target } of partsOf(config)) if (target === first) await alertsOf(http, { kind, target }, { per_page: 1 });
  },
  async *findings({ http, config, checkpoint, cursor, startedAt }) {
    const parts = partsOf(config);
    const since = typeof cursor === 'string' ? new Date(Date.parse(cursor) - OVERLAP_MS) : null;
    const order = since ? { sort: 'updated', direction: 'desc' } : { sort: 'created', direction: 'asc' };
    let at = positionOf(checkpoint);
    const coverage = createCoverageCheck(http);
    for (let part = parts[at.part]; part !== undefined; part = parts[at.part]) {
      const where = `${part.kind} alerts of ${part.target}${at.next && ` from ${at.next}`}`;
      const page = await alertsOf(http, part, { ...order, per_page: 100, ...Object.fromEntries(new URLSearchParams(at.next)) });
      if (page.next !== '' && page.next === at.next) throw new ConnectorError('incomplete', `GitHub repeatedly sent the same page of ${where}.`);
      const known = page.alerts.findIndex((alert) => isBefore(alert, since));
      const items = await itemsOf('github', JSON.stringify(known === -1 ? page.alerts : page.alerts.slice(0, known)), where);
      const isLast = page.next === '' || known !== -1;
      for (const alert of page.alerts) coverage.sawAlert(part.kind, nameOf(part, alert));
      at = isLast ? { part: at.part + 1, next: '' } : { part: at.part, next: page.next };
      yield { items, checkpoint: { ...at } };
    }
    // If a kind of alerts is not read, a missing alert is not necessarily fixed.
    const readsAllKinds = new Set(parts.map(({ kind }) => kind)).size === kinds.length;
    if (since === null && readsAllKinds && at.part === parts.length)
      for await (const { next, ...assets } of coverage.repositories(targetsOf(config), at.next)) {
        at = next === '' ? { part: parts.length + 1, next } : { part: parts.length, next };
        yield { items: [], ...assets, checkpoint: { ...at } };
      }
    return { coverage: since === null && readsAllKinds ? 'complete' : 'changes', cursor: startedAt.toISOString() };
  },
});

function hasTarget({ organization, repositories = [] }: Static<typeof Config>): boolean {
  return repositories.length > 0 || Boolean(organization?.trim());
}

function targetsOf({ organization, repositories = [] }: Static<typeof Config>): string[] {
  if (repositories.length > 0) return repositories.map(repositoryPath);
  if (organization?.trim()) return [`orgs/${encodeURIComponent(organization.trim())}`];
  throw new ConnectorError('configuration', 'Set an organization or at least one repository.');
}

function partsOf(config: Static<typeof Config>): Part[] {
  const chosen = kinds.filter((kind) => !config.kinds?.length || config.kinds.includes(kind));
  return targetsOf(config).flatMap((target) => chosen.map((kind) => ({ kind, target })));
}

/** The repositories are read after the last part. */
function positionOf(checkpoint: Json): { part: number; next: string } {
  const { part, next } = obj(checkpoint);
  return { part: Number(part ?? 0), next: String(next ?? '') };
}

function nameOf({ target }: Part, alert: object): string {
  return target.startsWith('repos/') ? decodeURIComponent(target.slice('repos/'.length)) : (str(obj(obj(alert).repository).full_name) ?? '');
}

function isBefore(alert: object, since: Date | null): boolean {
  const changed = date(obj(alert).updated_at);
  return since !== null && changed !== null && changed < since;
}
