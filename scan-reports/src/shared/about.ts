import type { About } from '../contract.ts';
import { name } from './normalize.ts';

const MOST_UNREAD = 10_000;

/** Gathers what a report says of itself, within bounds. */
export function startAbout(tools: readonly string[] | null = null) {
  const unread = new Set<string>();
  let finished = true;
  return {
    /** A place was not looked at; a report that does not say which may lack anything. */
    missed(path: string | undefined): void {
      if (path === undefined || unread.size >= MOST_UNREAD) finished = false;
      else unread.add(name(path.replace(/(?<=.)\/+$/, '')));
    },
    failed(): void {
      finished = false;
    },
    about: (): About => ({ tools, finished, unread: [...unread] }),
  };
}
