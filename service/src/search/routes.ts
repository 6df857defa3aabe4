import type { Database } from '../db/database.ts';
import type { App } from '../http/app.ts';
import { getRoute } from '../http/resource.ts';
import { SearchQuery, SearchResult } from './schemas.ts';
import { search } from './search.ts';

export function searchRoutes({ db }: { db: Database }) {
  return (app: App): void => {
    getRoute(app, { db }, '/search', {
      access: 'findings:read',
      operationId: 'search',
      summary: 'Search everything',
      description:
        'Returns the findings, assets, work items, evidence packages and connections that match a text, a few of each. For all of one kind, use its list.',
      tag: 'Findings',
      query: SearchQuery,
      body: SearchResult,
      read: (tx, { actor, query: { q, limit = 5 } }) => search(tx, actor.orgId, { q, limit }),
    });
  };
}
