import type { Run } from './run.ts';

const KNOWN = ['unchanged', 'updated'];

/**
 * Results that were compared with a baseline say how (section 3.27.24). If a run has some and none of them was known before, those that were known have
 * probably been left out. Of a compared run without results, the other runs tell whether the file has such results.
 */
export function startBaseline(runs: ReadonlyMap<string, Run>) {
  const states = new Map<string, Set<string>>();
  const hasKnown = (found: ReadonlySet<string>): boolean => KNOWN.some((state) => found.has(state));
  return {
    add(run: string, state: string | undefined): void {
      if (state !== undefined) states.set(run, (states.get(run) ?? new Set()).add(state));
    },
    leavesOutKnown(): boolean {
      const all = [...states.values()];
      if (all.some((found) => !hasKnown(found))) return true;
      return !all.some(hasKnown) && [...runs.values()].some(({ isCompared }) => isCompared);
    },
  };
}
