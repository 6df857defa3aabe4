import { dueTime, relativeTime, utc } from './words.ts';

/** A moment relative to now. The exact time is in the title. */
export function Time({ at, none = '–' }: { at: string | null | undefined; none?: string }) {
  if (!at) return <span className="dim">{none}</span>;
  return (
    <time dateTime={at} title={utc(at)} className="nowrap">
      {relativeTime(at)}
    </time>
  );
}

/** When something is due. One element, because lists have one in each row. */
export function Due({ at, isOverdue }: { at: string | null; isOverdue: boolean }) {
  if (at === null) return null;
  return (
    <time dateTime={at} title={utc(at)} className={isOverdue ? 'bad' : 'dim'}>
      {dueTime(at, isOverdue)}
    </time>
  );
}
