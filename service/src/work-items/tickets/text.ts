import { sql } from 'kysely';
import { assetFacts } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { findingFacts, findingSolutions } from '../../findings/relations.ts';
import { severityName } from '../../findings/severity.ts';
import type { WorkItemRow } from '../items/read.ts';

/** Most findings that the text of a ticket lists. */
const MAX_LISTED = 20;
const MAX_SOLUTION = 500;

interface ListedFinding {
  title: string;
  severity: number;
  vulnerability_ids: string[];
  asset: string;
  component: string | null;
  version: string | null;
  fixed_version: string | null;
  path: string | null;
  kev: boolean;
  epss: number | null;
  due: string | null;
  solution: string | null;
  total: number;
}

/** The paragraphs of a ticket: what to do. They leave out the status of findings, which changes often and is shown by the work item. */
export async function ticketBody(
  tx: TenantTx,
  orgId: string,
  { id, description, due_at }: Pick<WorkItemRow, 'id' | 'description' | 'due_at'>,
): Promise<string[]> {
  const { rows } = await sql<ListedFinding>`
    select f.title, f.severity, f.vulnerability_ids, a.name as asset, f.location->>'component' as component, f.location->>'version' as version,
      f.location->>'fixed_version' as fixed_version, f.location->>'path' as path, f.kev, f.epss,
      case when isfinite(f.due_at) then to_char(f.due_at at time zone 'UTC', 'YYYY-MM-DD') end as due, t.solution, (count(*) over ())::int as total
    from work_item_findings l
    join ${findingFacts} f on f.org_id = ${orgId} and f.id = l.finding_id
    join ${assetFacts} a on a.org_id = ${orgId} and a.id = f.asset_id
    left join ${findingSolutions} t on t.org_id = ${orgId} and t.id = f.text_id
    where l.org_id = ${orgId} and l.work_item_id = ${id} and l.unlinked_at is null
    order by f.kev desc, f.severity desc, f.title, f.id limit ${MAX_LISTED}`.execute(tx);
  const due: Date | number = due_at;
  const paragraphs = [
    ...(description ?? '').split(/\n{2,}/).filter((paragraph) => paragraph.trim() !== ''),
    ...(due instanceof Date ? [`Due by ${due.toISOString().slice(0, 10)}.`] : []),
  ];
  const [first] = rows;
  if (!first) return paragraphs;
  const more = first.total > rows.length ? [`… and ${first.total - rows.length} more. The work item lists all of them.`] : [];
  return [...paragraphs, first.total === 1 ? '1 finding:' : `${first.total} findings, most urgent first:`, ...rows.map(findingText), ...more];
}

function findingText(finding: ListedFinding): string {
  const { title, severity, vulnerability_ids, asset, component, version, fixed_version, path, kev, epss, due, solution } = finding;
  const names = vulnerability_ids.filter((name) => !title.includes(name)).slice(0, 3);
  const installed = [component, version].filter(Boolean).join(' ');
  const urgency = [...(kev ? ['known to be exploited (CISA KEV)'] : []), ...epssWords(epss), ...(due === null ? [] : [`due by ${due}`])];
  return [
    `• ${severityName(severity)}: ${title}${names.length > 0 ? ` (${names.join(', ')})` : ''}, on ${asset}`,
    ...(installed === '' && path === null ? [] : [`Found in: ${[installed, path].filter(Boolean).join(', ')}`]),
    ...(fixed_version === null ? [] : [`Fixed in: ${fixed_version}`]),
    ...(urgency.length > 0 ? [`Urgency: ${urgency.join(', ')}`] : []),
    ...(solution ? [`Solution: ${shortened(solution)}`] : []),
  ].join('\n');
}

/** In steps, so that the daily changes of the score do not change the ticket. */
function epssWords(epss: number | null): string[] {
  if (epss === null || epss < 0.01) return [];
  return [`EPSS at least ${epss < 0.1 ? 1 : Math.floor(epss * 10) * 10} %`];
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= MAX_SOLUTION ? line : `${line.slice(0, MAX_SOLUTION - 1).toWellFormed()}…`;
}

/** The page of the work item in the web console. */
export function workItemUrl(publicUrl: string, id: string): string {
  return `${publicUrl}/work/${id}`;
}

/** The comment that is added before a ticket is closed. */
export function closingComment(item: WorkItemRow, url: string): string {
  const { findings_verified: verified, findings_excepted: excepted } = item;
  const why: Partial<Record<WorkItemRow['status'], string>> = {
    verified: `The work item is verified: ${verified === 1 ? 'its finding is' : `all ${verified} findings are`} verified as remediated.`,
    closed_with_exceptions: `The work item is closed with exceptions: ${verified} verified, ${excepted} accepted as risk, false positive or withdrawn.`,
    cancelled: `The work item was cancelled. Reason: ${item.status_reason ?? 'not given'}`,
  };
  return `${why[item.status] ?? `The work item is ${item.status}.`}\n\n${url}`;
}
