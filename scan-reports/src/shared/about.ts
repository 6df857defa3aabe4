import type { About, ReportInput } from '../contract.ts';
import { jsonValues } from '../json/values.ts';
import { name } from '../names/clean-text.ts';

const MAX_UNREAD = 10_000;

/** Collects what a report states about its run, in bounded memory. */
export function startAbout(tools: readonly string[] | null = null) {
  const unread = new Set<string>();
  let finished = true;
  return {
    /** The tool did not scan this path. Without a path, anything may be missing from the report. */
    missed(path: string | undefined): void {
      if (path === undefined || unread.size >= MAX_UNREAD) finished = false;
      else unread.add(name(path.replace(/(?<=^\/|[^/])\/+$/, '')));
    },
    failed(): void {
      finished = false;
    },
    about: (): About => ({ tools, finished, unread: [...unread] }),
  };
}

interface Pages {
  /** Where a page names the next one. */
  next: string;
  /** Match something of every page that is not empty. */
  items: readonly string[];
  see?(item: unknown): void;
}

/** What a file with one or more pages of an API response says about its run. The last page names no next one, otherwise findings are missing. */
export async function aboutPages(input: ReportInput, { next, items, see }: Pages): Promise<About> {
  const { failed, about } = startAbout();
  let last = 0;
  let continued = -1;
  for await (const { document, pattern, value } of jsonValues(input, [next, ...items])) {
    last = document;
    if (pattern > 0) see?.(value);
    else if (typeof value === 'string' && value !== '') continued = document;
  }
  if (continued === last) failed();
  return about();
}
