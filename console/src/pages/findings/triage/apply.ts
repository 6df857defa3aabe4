import {
  type BulkResult,
  type FindingStatus,
  type InputOf,
  type ListedFinding,
  type ResultOf,
  RrsError,
  type WorkItem,
  type WorkItemCreate,
} from '@rrs/client';
import { call, refresh } from '../../../api/client.ts';
import { expectOwnEvents } from '../../../api/live.ts';
import { replaceRows, restartLists } from '../../../lists/infinite.ts';
import { messageOf } from '../../../parts/states.tsx';
import { announce } from '../../../parts/toast.tsx';
import { count, term } from '../../../parts/words.ts';
import { type Change, isRequested, patchOf, type Target } from './verbs.ts';

/** Takes the last change of status back, and says what came of it. */
let undoable: (() => Promise<string>) | null = null;

const show = (changed: ListedFinding) => replaceRows('listFindings', (row) => (row.id === changed.id ? changed : row));
const UNDONE = 'Undone in the console';
/** In progress is reached only from open. */
const wayBack = (from: FindingStatus, now: FindingStatus): FindingStatus[] => (from === 'in_progress' && now !== 'open' ? ['open', from] : [from]);

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
      undoable = () => undoOne(changed, finding.status);
      announce(`${term(changed.status)}: ${changed.title}`, { action: { label: 'Undo', run: () => void undo() } });
    } else if (change.status === 'risk_accepted') {
      announce(`${changed.decisions.some(isRequested) ? 'Another person has to approve it' : 'Acceptance changed'}: ${changed.title}`);
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

async function undoOne({ id, status: now }: ListedFinding, from: FindingStatus): Promise<string> {
  let changed: ListedFinding | null = null;
  for (const status of wayBack(from, now)) changed = await call('updateFinding', { path: { id }, body: { status, reason: UNDONE } });
  if (changed === null) return '';
  show(changed);
  return `${term(changed.status)}: ${changed.title}`;
}

/** Findings that had different statuses get them back together, one request for each status. */
async function undoMany(findings: readonly ListedFinding[], now: FindingStatus): Promise<string> {
  let changed = 0;
  let refused = 0;
  for (const [from, group] of Map.groupBy(findings, ({ status }) => status)) {
    for (const status of wayBack(from, now)) {
      const { counts } = await call('changeFindings', { body: { ids: group.map(({ id }) => id), change: { status, reason: UNDONE } } });
      if (status !== from) continue;
      changed += counts.changed;
      refused += counts.refused;
    }
  }
  await showChanged(changed);
  return outcome(changed, refused);
}

const outcome = (changed: number, refused: number): string => `${count(changed, 'finding')} changed${refused > 0 ? `, ${refused} refused` : ''}.`;

/** Takes back the last change of status. */
export async function undo(): Promise<void> {
  // The last change is the one that is on the screen, even if the service has not responded yet.
  await changing;
  if (undoable === null) return announce('There is nothing to undo.');
  const takeBack = undoable;
  undoable = null;
  expectOwnEvents();
  try {
    announce(`Undone. ${await takeBack()}`);
    await refresh('getFinding', 'listFindingHistory', 'getFindingStats');
  } catch (error) {
    announce(messageOf(error), { isBad: true });
  }
}

const LARGEST_PAGE = 200;
const MOST_PAGES = 10;

/** Updates rows in place. They are the ones that changed last, or those of `query`: a few requests, however many there are. */
export async function showChanged(many: number, query: InputOf<'listFindings'>['query'] = { sort: '-updated_at' }): Promise<void> {
  let cursor: string | null = null;
  for (let page = 0; page < Math.min(MOST_PAGES, Math.ceil(many / LARGEST_PAGE)); page++) {
    const read: ResultOf<'listFindings'> = await call('listFindings', {
      query: { ...query, limit: Math.min(LARGEST_PAGE, many), ...(cursor === null ? {} : { cursor }) },
    });
    const fresh = new Map(read.data.map((finding) => [finding.id, finding]));
    replaceRows('listFindings', (row) => fresh.get(row.id) ?? row);
    cursor = read.page.next_cursor;
    if (cursor === null) return;
  }
}

/** Changes many findings, or says what would change. Never shown before the service did it. */
export async function changeMany(target: Target, change: Change, dryRun: boolean): Promise<BulkResult> {
  const which = 'findings' in target ? { ids: target.findings.map(({ id }) => id) } : { filter: typedFilter(target.filter) };
  expectOwnEvents();
  const result = await call('changeFindings', { body: { ...which, change, dry_run: dryRun } });
  if (dryRun) return result;
  const { changed, refused } = result.counts;
  undoable = undoOf(target, change, result);
  announce(outcome(changed, refused), { ...(undoable && { action: { label: 'Undo', run: () => void undo() } }) });
  // The work item may have had findings before, in any order.
  if (change.work_item_id === undefined) await showChanged(changed);
  else await showChanged(Number.POSITIVE_INFINITY, { work_item_id: change.work_item_id });
  await refresh('getFinding', 'getFindingStats', 'listWorkItems');
  return result;
}

/** Acceptances are decisions of their own, which nobody takes back in passing. What was chosen by a filter is not known one by one. */
function undoOf(target: Target, { status }: Change, { counts, refused }: BulkResult): typeof undoable {
  if (!('findings' in target) || status === undefined || status === 'risk_accepted' || counts.changed === 0) return null;
  const isRefused = new Set(refused.map(({ id }) => id));
  const changed = target.findings.filter((finding) => !isRefused.has(finding.id) && finding.status !== status);
  return () => undoMany(changed, status);
}

/** Puts findings into a new work item. */
export async function newWorkItem(target: Target, fields: Omit<WorkItemCreate, 'finding_ids' | 'filter'>): Promise<WorkItem> {
  const which = 'findings' in target ? { finding_ids: target.findings.map(({ id }) => id) } : { filter: typedFilter(target.filter) };
  expectOwnEvents();
  const item = await call('createWorkItem', { body: { ...fields, ...which } });
  await showChanged(item.findings.total, { work_item_id: item.id });
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
