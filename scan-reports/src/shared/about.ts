import type { About } from '../contract.ts';
import { name } from './normalize.ts';

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
