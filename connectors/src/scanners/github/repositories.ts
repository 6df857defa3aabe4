import type { Asset } from '@rrs/scan-reports';
import { date } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Http, ScanOfAsset, Unread } from '../../core/contract.ts';
import { unreadBecause } from '../../core/unread.ts';
import { siteOf } from '../../shared/github/site.ts';
import { alertsOf, type Kind, kinds, nextPage, type Part } from './alerts.ts';

const Repository = Type.Object({
  full_name: Type.String(),
  html_url: Type.String(),
  archived: Type.Optional(Type.Boolean()),
  // Only administrators of the repository receive this field.
  security_and_analysis: Type.Optional(
    Type.Union([Type.Null(), Type.Object({ secret_scanning: Type.Optional(Type.Object({ status: Type.Optional(Type.String()) })) })]),
  ),
});
type Repository = Static<typeof Repository>;
const Analyses = Type.Array(Type.Object({ created_at: Type.String() }));

/** GitHub allows 5,000 requests an hour. Repositories beyond this budget are only partially covered, so nothing is closed there. */
const MAX_QUERIES = 2_000;

export interface CoveredAssets {
  covers: Asset[];
  scans: ScanOfAsset[];
  partiallyCovers: Asset[];
  unread: Unread[];
  /** The position of the next repositories. Empty at the end. */
  next: string;
}

interface Targets {
  /** The position of the first repositories. */
  from: string;
  /** Lists of alerts that could not be read. Their repositories are only partially covered. */
  unread: readonly Part[];
}

/**
 * The alerts of an organization do not include repositories where a kind of alerts is disabled, as if all of them were fixed. GitHub never deletes
 * an alert, so a repository with an alert has its kind enabled. The others are checked with a request.
 */
export function createCoverageCheck(http: Http) {
  const enabled = new Set<string>();
  let queries = 0;

  const isEnabled = async (kind: Kind, { full_name, security_and_analysis }: Repository): Promise<boolean> => {
    if (enabled.has(`${kind} ${full_name.toLowerCase()}`)) return true;
    const status = kind === 'secret_scanning' ? security_and_analysis?.secret_scanning?.status : undefined;
    if (status !== undefined) return status === 'enabled';
    if (queries++ >= MAX_QUERIES) return false;
    try {
      return !(await alertsOf(http, { kind, target: repositoryPath(full_name) }, { per_page: 1 })).isDisabled;
    } catch (error) {
      // Unknown if the repository is not readable or was deleted.
      if (error instanceof ConnectorError && (error.kind === 'credentials' || error.kind === 'configuration')) return false;
      throw error;
    }
  };

  /** When code scanning last analyzed the repository. The other kinds of alerts follow each change of it. Null if unknown. */
  const lastAnalysis = async ({ full_name }: Repository): Promise<Date | null> => {
    if (queries++ >= MAX_QUERIES) return null;
    const path = `${repositoryPath(full_name)}/code-scanning/analyses`;
    const found = await http.getJson(path, Analyses, { per_page: 1, sort: 'created', direction: 'desc' }).catch((error: unknown) => unreadBecause(error, path));
    return 'reason' in found ? null : date(found[0]?.created_at);
  };

  const isCovered = async (repository: Repository, unread: readonly Part[]): Promise<boolean> => {
    const path = repositoryPath(repository.full_name).toLowerCase();
    if (repository.archived === true || unread.some(({ target }) => !target.startsWith('repos/') || target.toLowerCase() === path)) return false;
    for (const kind of kinds) if (!(await isEnabled(kind, repository))) return false;
    return true;
  };

  return {
    sawAlert: (kind: Kind, fullName: string): void => {
      enabled.add(`${kind} ${fullName.toLowerCase()}`);
    },
    async *repositories(targets: readonly string[], { from, unread }: Targets): AsyncGenerator<CoveredAssets> {
      for await (const { repositories, next, ...page } of pagesOf(http, targets, from)) {
        const assets: CoveredAssets = {
          covers: [],
          scans: [],
          partiallyCovers: [],
          unread: page.unread.filter(({ what }) => !unread.some(({ target }) => target === what)),
          next,
        };
        for (const repository of repositories) {
          const asset: Asset = { type: 'repository', name: repository.html_url };
          const analyzed = (await isCovered(repository, unread)) ? await lastAnalysis(repository) : null;
          assets[analyzed ? 'covers' : 'partiallyCovers'].push(asset);
          if (analyzed) assets.scans.push({ asset, finished_at: analyzed });
        }
        yield assets;
      }
    },
  };
}

export function repositoryPath(fullName: string): string {
  return `repos/${fullName.split('/').map(encodeURIComponent).join('/')}`;
}

/** Named like a repository that GitHub lists. */
export function unlistedRepository(target: string, apiUrl: string): Asset {
  return { type: 'repository', name: `${siteOf(apiUrl)}/${decodeURIComponent(target.slice('repos/'.length))}` };
}

interface RepositoryPage {
  repositories: Repository[];
  unread: Unread[];
  next: string;
}

async function* pagesOf(http: Http, targets: readonly string[], from: string): AsyncGenerator<RepositoryPage> {
  const [organization] = targets.filter((target) => !target.startsWith('repos/'));
  if (organization === undefined) {
    const page: RepositoryPage = { repositories: [], unread: [], next: '' };
    for (const target of targets) {
      const found = await http.getJson(target, Repository).catch((error: unknown) => unreadBecause(error, target));
      if ('reason' in found) page.unread.push(found);
      else page.repositories.push(found);
    }
    return yield page;
  }
  for (let [next, previous] = [from || 'page=1', '']; next !== ''; ) {
    if (next === previous) throw new ConnectorError('incomplete', 'GitHub repeatedly sent the same page of repositories.');
    previous = next;
    const query = { per_page: 100, sort: 'created', direction: 'asc', ...Object.fromEntries(new URLSearchParams(next)) };
    const response = await http.json(Type.Array(Repository), { path: `${organization}/repos`, query });
    next = nextPage(response);
    yield { repositories: response.body, unread: [], next };
  }
}
