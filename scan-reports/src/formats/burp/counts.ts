import type { ReportInput } from '../../contract.ts';
import { jsonValues } from '../../json/values.ts';
import { count, type Obj, obj, str } from '../../shared/read.ts';

/** What a file states about a scan and has of it. */
interface Scan {
  id?: string | undefined;
  counted: number;
  listed: number;
  /** How many pages it has visited and how many requests it has made, as far as it says so. */
  reached: number | undefined;
}

const REACHED = ['crawl_unique_locations_visited', 'audit_requests_made'];
const LISTED = ['issue_events.*', 'data.scan.issues.*', 'scan.issues.*'];
const STATED = [
  'scan_status',
  'task_id',
  'scan_metrics.issue_events',
  ...REACHED.map((field) => `scan_metrics.${field}`),
  ...['data.scan', 'scan'].flatMap((scan) => [`${scan}.status`, `${scan}.id`, `${scan}.issue_counts`]),
];

/**
 * Whether each scan has succeeded and reached something, and the file has all of its issues. Both APIs return them in pages, the REST API as events. A file can have several
 * pages of a scan.
 */
export async function isWhole(input: ReportInput): Promise<boolean> {
  const pages = new Map<number, Scan>();
  for await (const { document, path, pattern, value } of jsonValues(input, [...LISTED, ...STATED])) {
    const page = pages.get(document) ?? { counted: 0, listed: 0, reached: undefined };
    pages.set(document, page);
    const field = path.at(-1);
    if (pattern < LISTED.length) page.listed++;
    else if (field === 'id' || field === 'task_id') page.id = str(value);
    else if (field === 'issue_events') page.counted = count(value) ?? 0;
    else if (REACHED.includes(String(field))) page.reached = (page.reached ?? 0) + (count(value) ?? 0);
    else if (field === 'issue_counts') page.counted = issuesIn(obj(value));
    else if (value !== 'succeeded') return false;
  }
  const scans = new Map<string | number, Scan>();
  for (const [document, { id, counted, listed, reached }] of pages) {
    const scan = scans.get(id ?? document);
    scans.set(id ?? document, { counted: Math.max(counted, scan?.counted ?? 0), listed: listed + (scan?.listed ?? 0), reached: scan?.reached || reached });
  }
  return [...scans.values()].every(({ counted, listed, reached }) => counted <= listed && reached !== 0);
}

/** https://portswigger.net/burp/extensibility/dast/graphql-api/issuecounts.html. Queries need not ask for all fields. */
function issuesIn({ total, high, medium, low, info }: Obj): number {
  const bySeverity = [high, medium, low, info].reduce((sum: number, of) => sum + (count(obj(of).total) ?? 0), 0);
  return Math.max(count(total) ?? 0, bySeverity);
}
