import { linkWithin } from '../../core/tickets/capture.ts';

export interface Linked {
  what: 'issue' | 'merge request' | 'commit';
  project: string;
  /** The reference after the project: #12, !7, @6dcb09b5 */
  name: string;
  path: string;
}

/** Recognizes links to issues, merge requests and commits of any project, with and without the dash of newer links. */
export function linked(url: string, apiUrl: string): Linked | null {
  const link = linkWithin(url, apiUrl.replace(/\/api\/v4\/?$/, ''));
  const [, project, kind, id = ''] =
    /^\/([\w.-]+(?:\/(?!-\/)[\w.-]+)+?)\/(?:-\/)?(issues|work_items|merge_requests|commit)\/(\d+|[0-9a-f]{7,64})(?:\/|$)/.exec(link?.path ?? '') ?? [];
  if (project === undefined || (kind !== 'commit' && !/^\d+$/.test(id))) return null;
  const at = `projects/${encodeURIComponent(project)}`;
  if (kind === 'commit') return { what: 'commit', project, name: `@${id.slice(0, 12)}`, path: `${at}/repository/commits/${id}` };
  if (kind === 'merge_requests') return { what: 'merge request', project, name: `!${id}`, path: `${at}/merge_requests/${id}` };
  return { what: 'issue', project, name: `#${id}`, path: `${at}/issues/${id}` };
}
