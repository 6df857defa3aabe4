import type { Asset } from '@rrs/scan-reports';
import { date, obj, str, strs } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineScanner, type Json } from '../../core/contract.ts';
import { itemsOf } from '../../core/reports.ts';
import { Choice } from '../../core/settings/fields.ts';
import { assertSomeRead, unreadBecause } from '../../core/unread.ts';
import { credentialProblems, githubCredentials, githubHeaders, githubLogin } from '../../shared/github/credentials.ts';
import { alertsOf, kinds, type Part, permissions } from './alerts.ts';
import { createCoverageCheck, repositoryPath, unlistedRepository } from './repositories.ts';

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
      examples: ['acme'],
      description: 'Reads all repositories of this organization. The name as in https://github.com/<name>. Leave empty if you set repositories.',
    }),
  ),
  repositories: Type.Optional(
    Type.Array(Type.String({ pattern: '^[^/\\s]+/[^/\\s]+$' }), {
      title: 'Repositories',
      examples: [['acme/shop', 'acme/site']],
      description: 'Repositories to read, as owner/name. Leave empty for all repositories of the organization.',
      default: [],
      maxItems: 1_000,
    }),
  ),
  kinds: Type.Optional(
    Type.Array(Choice({ dependabot: 'Dependabot', code_scanning: 'Code scanning', secret_scanning: 'Secret scanning' }), {
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
  credentials: Type.Object(githubCredentials),
  problems: ({ config, credentials }) => [
    ...(hasTarget(config) ? [] : [{ path: '/config/organization', detail: 'is required if there is no repository' }]),
    ...credentialProblems(credentials),
  ],
  baseUrl: ({ config }) => config.api_url,
  login: githubLogin,
  authorize: githubHeaders,
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
    const last = cursorOf(cursor);
    let at = positionOf(checkpoint);
    const coverage = createCoverageCheck(http);
    for (let part = parts[at.part]; part !== undefined; part = parts[at.part]) {
      const where = nameOf(part);
      // What could not be read last time is read completely.
      const since = last === null || last.unread.includes(where) ? null : last.since;
      const order = since ? { sort: 'updated', direction: 'desc' } : { sort: 'created', direction: 'asc' };
      const query = { ...order, per_page: 100, ...Object.fromEntries(new URLSearchParams(at.next)) };
      const page = await alertsOf(http, part, query).catch((error: unknown) => unreadBecause(error, where, repositoryOf(part, config)));
      if ('reason' in page) {
        at = { part: at.part + 1, next: '', unread: [...at.unread, where] };
        assertSomeRead(at.unread.length, parts.length, page);
        yield { items: [], unread: [page], checkpoint: { ...at } };
        continue;
      }
      if (page.next !== '' && page.next === at.next) throw new ConnectorError('incomplete', `GitHub repeatedly sent the same page of ${where}.`);
      const known = page.alerts.findIndex((alert) => isBefore(alert, since));
      const items = await itemsOf(
        'github',
        JSON.stringify(known === -1 ? page.alerts : page.alerts.slice(0, known)),
        `${where}${at.next && ` from ${at.next}`}`,
      );
      const isLast = page.next === '' || known !== -1;
      for (const alert of page.alerts) coverage.sawAlert(part.kind, fullNameOf(part, alert));
      at = { ...at, ...(isLast ? { part: at.part + 1, next: '' } : { next: page.next }) };
      yield { items, checkpoint: { ...at } };
    }
    // If a kind of alerts is not read, a missing alert is not necessarily fixed.
    const isComplete = last === null && new Set(parts.map(({ kind }) => kind)).size === kinds.length;
    if (isComplete && at.part === parts.length) {
      const unread = parts.filter((part) => at.unread.includes(nameOf(part)));
      for await (const { next, ...assets } of coverage.repositories(targetsOf(config), { from: at.next, unread })) {
        at = { ...at, ...(next === '' ? { part: parts.length + 1, next } : { next }) };
        yield { items: [], ...assets, checkpoint: { ...at } };
      }
    }
    return { coverage: isComplete ? 'complete' : 'changes', cursor: { since: startedAt.toISOString(), unread: at.unread } };
  },
});

interface Cursor {
  since: Date;
  /** Lists that the last run could not read. */
  unread: readonly string[];
}

function cursorOf(cursor: Json): Cursor | null {
  const { since, unread } = obj(cursor);
  const at = date(since);
  return at && { since: new Date(at.getTime() - OVERLAP_MS), unread: strs(unread) };
}

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

/** The next page of a list, and the lists that could not be read. The repositories are read after the last list. */
type Position = { part: number; next: string; unread: readonly string[] };

function positionOf(checkpoint: Json): Position {
  const { part, next, unread } = obj(checkpoint);
  return { part: Number(part ?? 0), next: String(next ?? ''), unread: strs(unread) };
}

function nameOf({ kind, target }: Part): string {
  return `${kind.replace('_', ' ')} alerts of ${target}`;
}

function repositoryOf({ target }: Part, { api_url }: Static<typeof Config>): Asset | undefined {
  return target.startsWith('repos/') ? unlistedRepository(target, api_url) : undefined;
}

function fullNameOf({ target }: Part, alert: object): string {
  return target.startsWith('repos/') ? decodeURIComponent(target.slice('repos/'.length)) : (str(obj(obj(alert).repository).full_name) ?? '');
}

function isBefore(alert: object, since: Date | null): boolean {
  const changed = date(obj(alert).updated_at);
  return since !== null && changed !== null && changed < since;
}
