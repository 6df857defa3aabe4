import { linkWithin } from '../../core/tickets/capture.ts';
import { siteOf } from '../../shared/github/site.ts';

export interface Linked {
  what: 'issue' | 'pull request' | 'commit';
  repository: string;
  path: string;
}

/** Issues, pull requests and commits of any repository. */
export function linked(url: string, apiUrl: string): Linked | null {
  const link = linkWithin(url, siteOf(apiUrl));
  const [, owner = '', name = '', rest = ''] = /^\/([\w.-]+)\/([\w.-]+)\/(.+)$/.exec(link?.path ?? '') ?? [];
  if (/^\.+$/.test(owner) || /^\.+$/.test(name)) return null;
  const repository = `${owner}/${name}`;
  const commit = /^(?:pull\/\d+\/)?commits?\/([0-9a-f]{7,64})\/?$/.exec(rest)?.[1];
  if (commit) return { what: 'commit', repository, path: `repos/${repository}/commits/${commit}` };
  const [, kind, number] = /^(issues|pull)\/(\d+)(?:\/|$)/.exec(rest) ?? [];
  if (number === undefined) return null;
  return kind === 'pull'
    ? { what: 'pull request', repository, path: `repos/${repository}/pulls/${number}` }
    : { what: 'issue', repository, path: `repos/${repository}/issues/${number}` };
}
