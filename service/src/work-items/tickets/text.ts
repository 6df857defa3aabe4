import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { severityName } from '../../findings/severity.ts';
import type { WorkItemRow } from '../items/read.ts';

/** What our part of a ticket says. */

const LISTED = 20;

interface Listed {
  title: string;
  severity: number;
  vulnerability_ids: string[];
  asset: string;
  total: number;
}

/** Paragraphs. How each finding stands is not among them: that changes often, and the work item tells it. */
export async function bodyOf(tx: TenantTx, orgId: string, { id, description }: Pick<WorkItemRow, 'id' | 'description'>): Promise<string[]> {
  const { rows } = await sql<Listed>`
    select f.title, f.severity, f.vulnerability_ids, a.name as asset, (count(*) over ())::int as total
    from work_item_findings l
    join findings f on f.org_id = ${orgId} and f.id = l.finding_id
    join assets a on a.org_id = ${orgId} and a.id = f.asset_id
    where l.org_id = ${orgId} and l.work_item_id = ${id} and l.unlinked_at is null
    order by f.severity desc, f.title, f.id limit ${LISTED}`.execute(tx);
  const said = (description ?? '').split(/\n{2,}/).filter((paragraph) => paragraph.trim() !== '');
  const [first] = rows;
  if (!first) return said;
  const lines = rows.map(({ title, severity, vulnerability_ids, asset }) => {
    const names = vulnerability_ids.filter((name) => !title.includes(name)).slice(0, 3);
    return `• ${severityName(severity)}: ${title}${names.length > 0 ? ` (${names.join(', ')})` : ''}, on ${asset}`;
  });
  const more = first.total > rows.length ? [`… and ${first.total - rows.length} more, which the work item lists.`] : [];
  return [...said, first.total === 1 ? 'One finding:' : `${first.total} findings, the most severe first:`, [...lines, ...more].join('\n')];
}

export function workItemUrl(publicUrl: string, id: string): string {
  return `${publicUrl}/api/v1/work-items/${id}`;
}

/** The comment with which a ticket is closed. */
export function closingComment(item: WorkItemRow, url: string): string {
  const { findings_verified: verified, findings_excepted: excepted } = item;
  const why: Partial<Record<WorkItemRow['status'], string>> = {
    verified: `The work item is verified: ${verified === 1 ? 'its finding is' : `all ${verified} findings are`} proven to be gone.`,
    closed_with_exceptions: `The work item is closed with exceptions: ${verified} verified, ${excepted} accepted as a risk, false or withdrawn.`,
    cancelled: `The work item was cancelled: ${item.status_reason ?? 'no reason was given'}`,
  };
  return `${why[item.status] ?? `The work item is ${item.status}.`}\n\n${url}`;
}
