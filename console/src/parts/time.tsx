import { relativeTime, utc } from './words.ts';

/** A moment relative to now. The exact time is in the title. */
export function Time({ at, none = '–' }: { at: string | null | undefined; none?: string }) {
  if (!at) return <span className="dim">{none}</span>;
  return (
    <time dateTime={at} title={utc(at)} className="nowrap">
      {relativeTime(at)}
    </time>
  );
}
