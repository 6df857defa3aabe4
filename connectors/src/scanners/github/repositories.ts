import type { Asset } from '@rrs/scan-reports';
import { type Static, Type } from 'typebox';
import { ConnectorError, type Http } from '../../core/contract.ts';
import { alertsOf, type Kind, kinds, nextPage } from './alerts.ts';

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

/** GitHub allows 5,000 requests an hour. Repositories beyond this budget are only partially covered, so nothing is closed there. */
const MAX_QUERIES = 2_000;

export interface CoveredAssets {
  covers: Asset[];
  partiallyCovers: Asset[];
  /** The position of the next repositories. Empty at the end. */
  next: string;
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

  const isCovered = async (repository: Repository): Promise<boolean> => {
    if (repository.archived === true) return false;
    for (const kind of kinds) if (!(await isEnabled(kind, repository))) return false;
    return true;
  };

  return {
    sawAlert: (kind: Kind, fullName: string): void => {
      enabled.add(`${kind} ${fullName.toLowerCase()}`);
    },
    async *repositories(targets: readonly string[], from: string): AsyncGenerator<CoveredAssets> {
      for await (const { repositories, next } of pagesOf(http, targets, from)) {
        const assets: CoveredAssets = { covers: [], partiallyCovers: [], next };
        for (const repository of repositories)
          assets[(await isCovered(repository)) ? 'covers' : 'partiallyCovers'].push({ type: 'repository', name: repository.html_url });
        yield assets;
      }
    },
  };
}

export function repositoryPath(fullName: string): string {
  return `repos/${fullName.split('/').map(encodeURIComponent).join('/')}`;
}

async function* pagesOf(http: Http, targets: readonly string[], from: string): AsyncGenerator<{ repositories: Repository[]; next: string }> {
  const [organization] = targets.filter((target) => !target.startsWith('repos/'));
  if (organization === undefined) {
    const repositories: Repository[] = [];
    for (const target of targets) repositories.push(await http.getJson(target, Repository));
    return yield { repositories, next: '' };
  }
  for (let [next, previous] = [from || 'page=1', '']; next !== ''; ) {
    if (next === previous) throw new ConnectorError('incomplete', 'GitHub repeatedly sent the same page of repositories.');
    previous = next;
    const query = { per_page: 100, sort: 'created', direction: 'asc', ...Object.fromEntries(new URLSearchParams(next)) };
    const response = await http.json(Type.Array(Repository), { path: `${organization}/repos`, query });
    next = nextPage(response);
    yield { repositories: response.body, next };
  }
}
