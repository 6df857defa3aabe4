import { num, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Json } from '../../core/contract.ts';

/** SonarQube returns only the first 10,000 results of a search. */
export const MAX_RESULTS = 10_000;

export const Paging = Type.Object({ pageIndex: Type.Integer(), pageSize: Type.Integer({ minimum: 1 }), total: Type.Integer() });

/** The next page. A type alias, because an interface is not assignable to Json. */
export type Position = {
  project: string;
  part: 'issues' | 'hotspots' | 'end';
  page: number;
  /** The creation time at which the search restarts to get past the first 10,000 results. */
  since: string;
  /** The number of results, as stated on the previous page. */
  total: number;
  /** The number of records before this page, and the key of the last of them. */
  read: number;
  last: string;
  /** The number of projects so far that could not be read. */
  unread: number;
};

const NOTHING_READ = { total: 0, read: 0, last: '' };

export function startOf(project: string): Position {
  return { project, part: 'issues', page: 1, since: '', ...NOTHING_READ, unread: 0 };
}

export function positionOf(checkpoint: Json): Position | null {
  const { project, part, page, since, total, read, last, unread } = obj(checkpoint);
  if (typeof project !== 'string') return null;
  return {
    project,
    part: (str(part) ?? 'issues') as Position['part'],
    page: num(page) ?? 1,
    since: str(since) ?? '',
    total: num(total) ?? 0,
    read: num(read) ?? 0,
    last: str(last) ?? '',
    unread: num(unread) ?? 0,
  };
}

export function positionAfter(
  at: Position,
  paging: Static<typeof Paging>,
  { count, lastCreated, lastKey }: { count: number; lastCreated: string | undefined; lastKey: string },
): Position {
  const { pageIndex, pageSize, total } = paging;
  if (pageIndex !== at.page) throw incomplete(`page ${pageIndex} of the ${at.part} of ${at.project} was sent instead of page ${at.page}`);
  // A removed record moves the others to pages that were already read.
  if (total < at.total) throw incomplete(`${at.part} of ${at.project} were removed during the run. The next run tries again`);
  if (pageIndex * pageSize >= total) return { ...at, part: at.part === 'issues' ? 'hotspots' : 'end', page: 1, since: '', ...NOTHING_READ };
  if (count === 0) throw incomplete(`${at.project} should have ${total} ${at.part}, but page ${pageIndex} was empty`);
  if ((pageIndex + 1) * pageSize <= MAX_RESULTS) return { ...at, page: at.page + 1, total, read: pageIndex * pageSize, last: lastKey };
  if (at.part === 'hotspots') throw incomplete(`${at.project} has ${total} hotspots, but SonarQube returns only ${MAX_RESULTS}. Review or fix some of them`);
  if (lastCreated === undefined || lastCreated === at.since)
    throw incomplete(`${at.project} has more than ${MAX_RESULTS} vulnerabilities with the same creation time, but SonarQube returns no more of them`);
  return { ...at, page: 1, since: lastCreated, ...NOTHING_READ };
}

export function incomplete(what: string): ConnectorError {
  return new ConnectorError('incomplete', `The data from SonarQube is incomplete: ${what}.`);
}
