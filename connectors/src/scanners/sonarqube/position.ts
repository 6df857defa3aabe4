import { num, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError, type Json } from '../../core/contract.ts';

/** SonarQube shows the first 10,000 of a search and refuses to go on. */
export const MOST_RESULTS = 10_000;

export const Paging = Type.Object({ pageIndex: Type.Integer(), pageSize: Type.Integer({ minimum: 1 }), total: Type.Integer() });

/** Which page comes next. A type and no interface, since it is a checkpoint, which is JSON. */
export type Position = {
  project: string;
  part: 'issues' | 'hotspots' | 'end';
  page: number;
  /** Where the search begins again for what is behind the first 10,000: issues that were created then, or later. */
  since: string;
  /** How many the search had before. */
  total: number;
};

export function beginningOf(project: string): Position {
  return { project, part: 'issues', page: 1, since: '', total: 0 };
}

export function positionOf(checkpoint: Json): Position | null {
  const { project, part, page, since, total } = obj(checkpoint);
  if (typeof project !== 'string') return null;
  return { project, part: (str(part) ?? 'issues') as Position['part'], page: num(page) ?? 1, since: str(since) ?? '', total: num(total) ?? 0 };
}

export function positionAfter(
  at: Position,
  paging: Static<typeof Paging>,
  { count, lastCreated }: { count: number; lastCreated: string | undefined },
): Position {
  const { pageIndex, pageSize, total } = paging;
  if (pageIndex !== at.page) throw incomplete(`page ${pageIndex} of the ${at.part} of ${at.project} came in place of page ${at.page}`);
  // What is gone moves the others to pages that were already read.
  if (total < at.total) throw incomplete(`${at.part} of ${at.project} were removed while they were read. The next run tries again`);
  if (pageIndex * pageSize >= total) return { ...at, part: at.part === 'issues' ? 'hotspots' : 'end', page: 1, since: '', total: 0 };
  if (count === 0) throw incomplete(`there should be ${total} ${at.part} of ${at.project}, but page ${pageIndex} was empty`);
  if ((pageIndex + 1) * pageSize <= MOST_RESULTS) return { ...at, page: at.page + 1, total };
  if (at.part === 'hotspots') throw incomplete(`${at.project} has ${total} hotspots, and SonarQube shows ${MOST_RESULTS} only. Review or fix some of them`);
  if (lastCreated === undefined || lastCreated === at.since)
    throw incomplete(`${at.project} has more than ${MOST_RESULTS} vulnerabilities of the same time, and SonarQube shows no more of them`);
  return { ...at, page: 1, since: lastCreated, total: 0 };
}

export function incomplete(what: string): ConnectorError {
  return new ConnectorError('incomplete', `Not everything could be read from SonarQube: ${what}.`);
}
