import { dueTime, relativeTime, utc } from './words.ts';

/** A moment relative to now. The exact time is in the title. In lists, the cell has it (`isBare`). */
export function Time({ at, none = '–', isBare = false }: { at: string | null | undefined; none?: string; isBare?: boolean }) {
  if (!at) return <span className="dim">{none}</span>;
  return (
    <time dateTime={at} title={isBare ? undefined : utc(at)} className="nowrap">
      {relativeTime(at)}
    </time>
  );
}

/** When something is due. One element, because lists have one in each row. */
export function Due({ at, isOverdue, isBare = false }: { at: string | null; isOverdue: boolean; isBare?: boolean }) {
  if (at === null) return null;
  return (
    <time dateTime={at} title={isBare ? undefined : utc(at)} className={isOverdue ? 'bad nowrap' : 'dim nowrap'}>
      {dueTime(at, isOverdue)}
    </time>
  );
}
