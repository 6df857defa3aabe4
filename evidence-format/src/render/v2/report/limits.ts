import { grouped } from '../words/numbers.ts';
import { type Block, words } from './model.ts';

/** Rows per table. A report has at most 60 pages, whatever the package contains; evidence.json and findings.csv have everything. */
export const MOST = {
  gapsOnCover: 5,
  decisions: 40,
  assets: 25,
  findings: 100,
  exceptions: 40,
  missed: 15,
  removed: 20,
  scans: 16,
  policies: 12,
  severities: 30,
  artifacts: 20,
  people: 25,
  approvals: 12,
  events: 60,
  selections: 12,
  redactions: 20,
} as const;

/** Characters of texts that users wrote. */
export const LENGTH = { title: 120, text: 180, name: 80 } as const;

/** The first items, and a sentence about the others. */
export function first<T>(items: readonly T[], most: number, where: string): { shown: readonly T[]; more: Block[] } {
  const rest = items.length - most;
  return rest <= 0
    ? { shown: items, more: [] }
    : { shown: items.slice(0, most), more: [words(`This table shows the first ${grouped(most)} of ${grouped(items.length)}. ${where} has all of them.`)] };
}
