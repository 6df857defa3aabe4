import type { RunFacts } from '../../contract.ts';
import { num } from '../../shared/read.ts';
import { child, childText, type XmlElement } from '../../xml/elements.ts';

/** Log messages, under which newer versions list no debug messages any more. */
const MESSAGES = ['log', 'debug'];
/** Keywords of a filter that leave out no results, or whose effect the numbers of results show. */
const HARMLESS = /^(?:apply_overrides|first|rows|sort|sort-reverse|overrides|notes|timezone|result_hosts_only)=/;

interface Counts {
  /** Log and debug messages that the report does not list. */
  messages: number;
  /** Any other results that the report does not list. */
  results: number;
}

/**
 * Collects what a report says about its filter, and about results of the scan that it does not list. A filter can leave out a finding that an earlier
 * report with the same filter had: somebody overrode its severity, or a less reliable check found it this time.
 */
export function startLeftOut() {
  const restrictions = new Set<string>();
  let listed = 0;
  let counts: Counts | null = null;
  let isOverridden = false;
  let isLaterPage = false;
  let limit = Number.POSITIVE_INFINITY;
  const addPage = (first: number | undefined, rows: number | undefined): void => {
    isLaterPage ||= (first ?? 1) > 1;
    if (rows !== undefined && rows > 0) limit = Math.min(limit, rows);
  };
  return {
    addResult(): void {
      listed++;
    },
    /** The filter: "apply_overrides=0 levels=hml min_qod=70 rows=100". */
    addFilter(text: string): void {
      const terms = text.split(/\s+/).filter((term) => term !== '');
      const numberIn = (keyword: string) => num(terms.find((term) => term.startsWith(`${keyword}=`))?.slice(keyword.length + 1));
      for (const term of terms) if (!HARMLESS.test(term)) restrictions.add(term);
      isOverridden ||= numberIn('apply_overrides') === 1;
      addPage(numberIn('first'), numberIn('rows'));
    },
    /** The attributes of the list of results. */
    addPageOf({ start, max }: Readonly<Record<string, string>>): void {
      addPage(num(start), num(max));
    },
    /** Counts of all results of the scan and of those that the filter lets through, in total and of each level. Other counts are ignored. */
    addCounts(element: XmlElement): void {
      const left = leftOutOf(element);
      if (left === null) return;
      const ofLevels = element.children.map((level) => ({ isMessage: MESSAGES.includes(level.name), count: leftOutOf(level) ?? 0 }));
      const sum = (isMessage: boolean) => ofLevels.reduce((total, level) => total + (level.isMessage === isMessage ? Math.max(level.count, 0) : 0), 0);
      const messages = sum(true);
      counts = { messages: (counts?.messages ?? 0) + messages, results: (counts?.results ?? 0) + Math.max(sum(false), left - messages) };
    },
    facts(): Pick<RunFacts, 'unfinished' | 'left_out' | 'restrictions'> {
      const stated = restrictions.size > 0 ? { restrictions: [...restrictions] } : {};
      if (counts === null) return isLaterPage || listed >= limit ? { unfinished: true, ...stated } : stated;
      // With overrides applied, a finding can be among the log messages.
      if (counts.results > 0 || (isOverridden && counts.messages > 0)) return { unfinished: true, ...stated };
      return counts.messages > 0 ? { left_out: ['info'] } : {};
    },
  };
}

/** How many results of the scan the filter leaves out. Null if the report does not say so. */
function leftOutOf(counts: XmlElement): number | null {
  if (!child(counts, 'full') || !child(counts, 'filtered')) return null;
  const [full, filtered] = [num(childText(counts, 'full')), num(childText(counts, 'filtered'))];
  return full === undefined || filtered === undefined ? null : full - filtered;
}
