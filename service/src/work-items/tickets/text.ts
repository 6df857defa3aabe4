import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { severityName } from '../../findings/severity.ts';
import type { WorkItemRow } from '../items/read.ts';

/** Most findings that the text of a ticket lists. */
const MAX_LISTED = 20;

interface ListedFinding {
  title: string;
  severity: number;
  vulnerability_ids: string[];
  asset: string;
  total: number;
}

/** The paragraphs of a ticket. They leave out the status of findings, which changes often and is shown by the work item. */
export async function ticketBody(tx: TenantTx, orgId: string, { id, description }: Pick<WorkItemRow, 'id' | 'description'>): Promise<string[]> {
  const { rows } = await sql<ListedFinding>`
    select f.title, f.severity, f.vulnerability_ids, a.name as asset, (count(*) over ())::int as total
    from work_item_findings l
    join findings f on f.org_id = ${orgId} and f.id = l.finding_id
    join assets a on a.org_id = ${orgId} and a.id = f.asset_id
    where l.org_id = ${orgId} and l.work_item_id = ${id} and l.unlinked_at is null
    order by f.severity desc, f.title, f.id limit ${MAX_LISTED}`.execute(tx);
  const paragraphs = (description ?? '').split(/\n{2,}/).filter((paragraph) => paragraph.trim() !== '');
  const [first] = rows;
  if (!first) return paragraphs;
  const lines = rows.map(({ title, severity, vulnerability_ids, asset }) => {
    const names = vulnerability_ids.filter((name) => !title.includes(name)).slice(0, 3);
    return `• ${severityName(severity)}: ${title}${names.length > 0 ? ` (${names.join(', ')})` : ''}, on ${asset}`;
  });
  const more = first.total > rows.length ? [`… and ${first.total - rows.length} more. The work item lists all of them.`] : [];
  return [...paragraphs, first.total === 1 ? '1 finding:' : `${first.total} findings, most severe first:`, [...lines, ...more].join('\n')];
}

export function workItemUrl(publicUrl: string, id: string): string {
  return `${publicUrl}/api/v1/work-items/${id}`;
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
