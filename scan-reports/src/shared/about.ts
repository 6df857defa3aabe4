import type { About, ReportInput } from '../contract.ts';
import { jsonValues } from '../json/values.ts';
import { name } from '../names/clean-text.ts';
import { obj, str } from './read.ts';

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
  /** Where a page names the one before, or how it was asked for, and what is there on a page that is not the first. */
  later?: Readonly<Record<string, RegExp>>;
  /** Match something of every page that is not empty. */
  items: readonly string[];
  see?(item: unknown): void;
}

/**
 * What a file with one or more pages of an API response says about its run. Findings are missing if its first page is not the first of the response, or its
 * last page names a next one.
 */
export async function aboutPages(input: ReportInput, { next, later = {}, items, see }: Pages): Promise<About> {
  const { failed, about } = startAbout();
  const signs = Object.entries(later);
  let last = 0;
  let continued = -1;
  for await (const { document, pattern, value } of jsonValues(input, [next, ...signs.map(([path]) => path), ...items])) {
    last = document;
    if (pattern > signs.length) {
      see?.(value);
      continue;
    }
    const text = linkOf(value);
    if (text === undefined) continue;
    if (pattern === 0) continued = document;
    else if (document === 0 && signs[pattern - 1]?.[1].test(text)) failed();
  }
  if (continued === last) failed();
  return about();
}

/** In JSON:API, a link is a text or an object. */
function linkOf(value: unknown): string | undefined {
  return typeof value === 'string' ? str(value) : str(obj(value).href);
}
