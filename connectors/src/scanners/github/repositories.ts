import type { Asset } from '@rrs/scan-reports';
import { type Static, Type } from 'typebox';
import { ConnectorError, type Http } from '../../core/contract.ts';
import { alertsOf, type Kind, kinds, nextPage } from './alerts.ts';

const Repository = Type.Object({
  full_name: Type.String(),
  html_url: Type.String(),
  archived: Type.Optional(Type.Boolean()),
  // Only for those who may administer it.
  security_and_analysis: Type.Optional(
    Type.Union([Type.Null(), Type.Object({ secret_scanning: Type.Optional(Type.Object({ status: Type.Optional(Type.String()) })) })]),
  ),
});
type Repository = Static<typeof Repository>;

/** Of the 5,000 requests an hour that GitHub allows, so many are spent on what is switched on. What is left is not known, and closes nothing. */
const MOST_ASKED = 2_000;

export interface LookedAt {
  covers: Asset[];
  partiallyCovers: Asset[];
  /** Of the next repositories; empty at the end. */
  next: string;
}

/**
 * Lists of a whole organization are silent about repositories where a kind of alerts is off, as if all of it were fixed. GitHub never forgets an
 * alert, so whoever shows one has it on; the others are asked.
 */
export function createWatch(http: Http) {
  const on = new Set<string>();
  let asked = 0;

  const isOn = async (kind: Kind, { full_name, security_and_analysis }: Repository): Promise<boolean> => {
    if (on.has(`${kind} ${full_name.toLowerCase()}`)) return true;
    const status = kind === 'secret_scanning' ? security_and_analysis?.secret_scanning?.status : undefined;
    if (status !== undefined) return status === 'enabled';
    if (asked++ >= MOST_ASKED) return false;
    try {
      return !(await alertsOf(http, { kind, target: repositoryPath(full_name) }, { per_page: 1 })).isOff;
    } catch (error) {
      // What may not be asked about, or is gone by now, is not known.
      if (error instanceof ConnectorError && (error.kind === 'credentials' || error.kind === 'configuration')) return false;
      throw error;
    }
  };

  const isWatched = async (repository: Repository): Promise<boolean> => {
    if (repository.archived === true) return false;
    for (const kind of kinds) if (!(await isOn(kind, repository))) return false;
    return true;
  };

  return {
    saw: (kind: Kind, fullName: string): void => {
      on.add(`${kind} ${fullName.toLowerCase()}`);
    },
    async *repositories(targets: readonly string[], from: string): AsyncGenerator<LookedAt> {
      for await (const { repositories, next } of pagesOf(http, targets, from)) {
        const looked: LookedAt = { covers: [], partiallyCovers: [], next };
        for (const repository of repositories)
          looked[(await isWatched(repository)) ? 'covers' : 'partiallyCovers'].push({ type: 'repository', name: repository.html_url });
        yield looked;
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
  for (let [next, asked] = [from || 'page=1', '']; next !== ''; ) {
    if (next === asked) throw new ConnectorError('incomplete', 'GitHub sends the same page of repositories again and again.');
    asked = next;
    const query = { per_page: 100, sort: 'created', direction: 'asc', ...Object.fromEntries(new URLSearchParams(next)) };
    const answer = await http.json(Type.Array(Repository), { path: `${organization}/repos`, query });
    next = nextPage(answer);
    yield { repositories: answer.body, next };
  }
}
