import { type BulkResult, type ListedFinding, RrsError, type WorkItem, type WorkItemCreate } from '@rrs/client';
import { call, refresh } from '../../../api/client.ts';
import { expectOwnEvents } from '../../../api/live.ts';
import { replaceRows, restartLists } from '../../../lists/infinite.ts';
import { messageOf } from '../../../parts/states.tsx';
import { announce } from '../../../parts/toast.tsx';
import { count, term } from '../../../parts/words.ts';
import { type Change, patchOf, type Target } from './verbs.ts';

let undoable: { finding: ListedFinding; from: ListedFinding['status'] } | null = null;

const show = (changed: ListedFinding) => replaceRows('listFindings', (row) => (row.id === changed.id ? changed : row));

/** The change of a finding that is on its way. */
let changing: Promise<void> = Promise.resolve();

/** Changes one finding. The list shows it at once; if the service refuses, the row goes back and the refusal is shown. */
export function changeOne(finding: ListedFinding, change: Change): Promise<void> {
  const done = sendChange(finding, change);
  changing = done.catch(() => {});
  return done;
}

async function sendChange(finding: ListedFinding, change: Change): Promise<void> {
  if (change.work_item_id !== undefined) {
    await changeMany({ findings: [finding] }, change, false);
    return;
  }
  expectOwnEvents();
  const status = change.status === 'risk_accepted' ? finding.status : (change.status ?? finding.status);
  show({ ...finding, status, severity: change.severity ?? finding.severity });
  try {
    const changed = await call('updateFinding', { path: { id: finding.id }, header: { 'If-Match': `"${finding.version}"` }, body: patchOf(change, finding) });
    show(changed);
    if (change.status !== undefined && changed.status !== finding.status) {
      undoable = { finding: changed, from: finding.status };
      announce(`${term(changed.status)}: ${changed.title}`, { action: { label: 'Undo', run: () => void undo() } });
    }
    await refresh('getFinding', 'listFindingHistory', 'getFindingStats');
  } catch (error) {
    show(finding);
    if (error instanceof RrsError && error.status === 412) {
      await refresh('getFinding');
      const current = await call('getFinding', { path: { id: finding.id } });
      show(current);
      throw new Error(`Somebody changed this finding in the meantime. It is now ${term(current.status).toLowerCase()}. Look at it and try again.`);
    }
    throw error;
  }
}

/** Puts the last changed finding back. */
export async function undo(): Promise<void> {
  // The last change is the one that is on the screen, even if the service has not responded yet.
  await changing;
  if (undoable === null) return announce('There is nothing to undo.');
  const { finding, from } = undoable;
  undoable = null;
  expectOwnEvents();
  try {
    // In progress is reached only from open.
    const statuses = from === 'in_progress' && finding.status !== 'open' ? (['open', from] as const) : [from];
    let changed: ListedFinding = finding;
    for (const status of statuses) changed = await call('updateFinding', { path: { id: finding.id }, body: { status, reason: 'Undone in the console' } });
    show(changed);
    announce(`Undone. ${term(changed.status)}: ${changed.title}`);
    await refresh('getFinding', 'listFindingHistory', 'getFindingStats');
  } catch (error) {
    announce(messageOf(error), { isBad: true });
  }
}

/** Changes many findings, or says what would change. Never shown before the service did it. */
export async function changeMany(target: Target, change: Change, dryRun: boolean): Promise<BulkResult> {
  const which = 'findings' in target ? { ids: target.findings.map(({ id }) => id) } : { filter: typedFilter(target.filter) };
  expectOwnEvents();
  const result = await call('changeFindings', { body: { ...which, change, dry_run: dryRun } });
  if (dryRun) return result;
  const { changed, refused } = result.counts;
  announce(`${count(changed, 'finding')} changed${refused > 0 ? `, ${refused} refused` : ''}.`);
  if ('findings' in target) {
    const fresh = await Promise.all(target.findings.slice(0, 100).map(({ id }) => call('getFinding', { path: { id } }).catch(() => null)));
    for (const finding of fresh) if (finding !== null) show(finding);
  }
  await refresh('getFinding', 'getFindingStats', 'listWorkItems');
  return result;
}

/** Puts findings into a new work item. */
export async function newWorkItem(target: Target, fields: Omit<WorkItemCreate, 'finding_ids' | 'filter'>): Promise<WorkItem> {
  const which = 'findings' in target ? { finding_ids: target.findings.map(({ id }) => id) } : { filter: typedFilter(target.filter) };
  expectOwnEvents();
  const item = await call('createWorkItem', { body: { ...fields, ...which } });
  await refresh('getFinding', 'listWorkItems');
  await restartLists('listWorkItems');
  return item;
}

const numbers = ['risk_min', 'epss_min'];
const single = ['q', 'asset', 'component', 'path', 'asset_version'];

/** The filters of an address as JSON: the API takes text in a query, and types in a body. */
function typedFilter(filter: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(filter).map(([name, value]) => {
      if (numbers.includes(name)) return [name, Number(value)];
      if (value === 'true' || value === 'false') return [name, value === 'true'];
      if (single.includes(name) || /_(?:id|from|to)$/.test(name)) return [name, value];
      return [name, value.split(',')];
    }),
  );
}
