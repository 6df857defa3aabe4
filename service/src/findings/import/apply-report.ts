import { type Asset, isScan, type RunFacts } from '@rrs/scan-reports';
import { sql } from 'kysely';
import { type DescribedAsset, describeAsset } from '../../assets/recognize/describe.ts';
import { sharedName } from '../../assets/recognize/find-stated.ts';
import { resolveAssets } from '../../assets/recognize/resolve.ts';
import { describeRun, type RunOfAsset } from '../../assets/recognize/resolve-tracks.ts';
import { uncountBranches } from '../../assets/recognize/uncount-branches.ts';
import { importedAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { anyRows } from '../../db/rows.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { type Actor, systemActor } from '../../shared/actor.ts';
import { type Absence, blockers, doubtsOf, isBlocker, unstatedBy } from '../absence/absence.ts';
import { type Closures, closeAbsent, notifyFollower } from '../absence/close-absent.ts';
import { isUnread } from '../absence/find-absent.ts';
import { listAgain } from '../absence/list-again.ts';
import { voidRequestsOfClosed } from '../decisions/decisions.ts';
import { followPlaces } from '../decisions/follow-places.ts';
import { reopenRegressions, reopenRiskIncreased } from '../decisions/risk-increased.ts';
import { endNamedTracks } from '../endings/end-named-tracks.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import type { HistoryActor } from '../history.ts';
import { folderPath } from '../identity/paths.ts';
import { adoptIdentities } from '../identity-changes/adopt-identities.ts';
import { followAsset } from '../identity-changes/follow-asset.ts';
import { reopenUnproven } from '../identity-changes/reopen-unproven.ts';
import { takeImportLock } from '../import-lock.ts';
import type { Resolution } from '../merge/resolution.ts';
import { resolveRecords } from '../merge/resolve.ts';
import { sizeOf } from '../merge/run-lists.ts';
import { type Source, sourceOf, wordsOfSource } from '../merge/sources.ts';
import { type Changes, recordChanges, recordUnchanged } from './count-changes.ts';
import { coverageNotes } from './coverage-notes.ts';
import { inventoryNotes } from './inventory-note.ts';
import type { ImportRow, ScanScope } from './manage-imports.ts';
import type { Read } from './reading/read-report.ts';
import type { Staged } from './reading/stage-report.ts';
import { UNSPECIFIED } from './report-assets.ts';
import { factsOf, isTimeStated, timesOf } from './run-times.ts';
import { GENERIC } from './uploaded-by.ts';

/** Describes a report that a connection collected. */
export interface Collected {
  source: Source;
  /** Assets that the run covered, even if it found nothing there. */
  covers: readonly Asset[];
  /** Assets that the run covered in part. Nothing is closed there. */
  partiallyCovered: readonly Asset[];
  /** Whether findings may be missing for another reason, such as changed settings. Then any closure needs confirmation. */
  cautious: boolean;
}

export interface Report extends Read {
  source: Source;
  follower: FindingFollower;
  /** Set if a connection collected the report. */
  collected: Collected | null;
}

export interface Result {
  status: 'succeeded' | 'needs_confirmation';
  format: string;
  sourceId: string | null;
  counts: { received: number; created: number; updated: number; unchanged: number; reopened: number; rejected: number; closed: number };
  rejections: Staged['rejections'];
  notes: string[];
  run: Record<string, unknown>;
  timeless: Buffer | null;
  by_severity: Changes['by_severity'];
  /** Whether the statistics of findings are outdated. */
  grown: boolean;
}

/** Assets that a run of a connection covered, completely or in part. */
export function coveredByRun({ collected }: Pick<Report, 'collected'>): DescribedAsset[] {
  return [...(collected?.covers ?? []), ...(collected?.partiallyCovered ?? [])].map((asset) => describeAsset(asset));
}

/** Applies a staged report: its records, and what it no longer shows. */
export async function applyReport(tx: TenantTx, row: ImportRow, report: Report): Promise<Result> {
  const { format, about, source, follower, collected, staged } = report;
  const orgId = row.org_id;
  await takeImportLock(tx, orgId);
  await lockImport(tx, orgId, row.id);
  await assertStaged(tx, row, staged);
  const scope = row.scan_scope as ScanScope;
  const { sla, brake, source_ranking } = await readPolicy(tx, orgId);
  const { id: sourceId, listed_at: listedAt } = await sourceOf(tx, orgId, source);
  const resolution: Resolution = {
    orgId,
    importId: row.id,
    sourceId,
    listedAt,
    provider: source.tool || source.provider,
    sourceWords: wordsOfSource(source),
    provesFixed: source.kind === 'connection',
    sla,
    ranking: source_ranking,
    actor: { ...(row.actor as Omit<HistoryActor, 'orgId'>), orgId },
    staged: stagedRows(staged),
    files: staged.run.files?.length ?? null,
    restrictions: staged.run.restrictions ?? [],
    size: scope.path === undefined ? sizeOf(staged.run) : null,
  };
  await describeRun(tx, { orgId, importId: row.id }, ...runsOf(row, report, staged));
  const doubts = scope.coverage === 'complete' ? doubtsOf(about, staged, isScan(source)) : [];
  const absence: Absence = {
    complete: scope.coverage === 'complete' && doubts.length === 0,
    unread: about?.unread ?? [],
    skipped: about?.skipped ?? [],
    checks: staged.run.checks ?? null,
    files: staged.run.files ?? null,
    facts: staged.run,
    searchStated: scope.looked_for?.filter((kind) => staged.run.left_out?.includes(kind)) ?? [],
    isPartStated: scope.path !== undefined,
    wholeStated: scope.path !== undefined && folderPath(scope.path) === '' ? (staged.run.lock_files ?? []) : null,
    toolVersion: staged.run.tool_version ?? null,
    isTimeStated: isTimeStated(scope, staged),
    lists: listedBy(scope, report),
    brake: collected?.cautious ? { share: 0, count: 0 } : brake,
    isEmpty: staged.received === 0,
  };
  const complete = absence.complete ? { isUnread: (location: ReturnType<typeof sql>) => isUnread(location, absence) } : null;
  const actor = { ...systemActor(orgId, resolution.actor.name), ...resolution.actor };
  const shared = await resolveAssets(tx, actor, row.id, followAsset(follower));
  const branchNotes = await uncountBranches(tx, actor, followAsset(follower), { importId: row.id, isScan: isScan(source) });
  const merged = await adoptIdentities(tx, resolution);
  const listed = await listAgain(tx, resolution, absence);
  const outcomes = await resolveRecords(tx, resolution, complete);
  const { reopened, grown } = outcomes;
  const closures = await closeAbsent(tx, resolution, absence, outcomes);
  const { isClosing, withheld } = closures;
  const back = [
    ...(await reopenUnproven(tx, resolution.actor, listed, 'asset_listed')),
    ...(await reopenUnproven(tx, resolution.actor, closures.unproven, 'scan_unable')),
  ];
  const others = [...back, ...outcomes.inOtherPlaces, ...closures.inFewerPlaces];
  const redecided = [...back, ...(await followDecisions(tx, resolution, others))];
  const changes = await recordChanges(tx, orgId, row.id);
  const run = { ...factsOf(staged.run), ...namedBy(report, staged), unstated: unstatedBy(absence) };
  const timeless = collected || !report.timeless ? null : Buffer.from(report.timeless);
  if (!row.dry_run) {
    // Whoever follows the findings judges whether the report can be believed.
    await tx
      .updateTable('imports')
      .set({ format: format.id, source_id: resolution.sourceId, received: staged.received, run: JSON.stringify(run), timeless_digest: timeless })
      .where('org_id', '=', orgId)
      .where('id', '=', row.id)
      .execute();
    await recordUnchanged(tx, orgId, row.id);
    await follower.moveLinks(tx, actor, merged);
    await notifyFollower(tx, follower, resolution, {
      reopened,
      isClosing,
      others: [...merged.flatMap(({ from_id, into_id }) => [from_id, into_id]), ...redecided],
      isWithheld: withheld !== null,
    });
  }
  const unended = await endStated(tx, actor, follower, { importId: row.id, names: scope.ended_tracks ?? [] });
  const { received, rejected, rejections } = staged;
  const unchanged = received - rejected - changes.shown;
  return {
    status: withheld && !row.dry_run ? 'needs_confirmation' : 'succeeded',
    format: format.id,
    sourceId: resolution.sourceId,
    counts: { received, ...changes.counts, unchanged, rejected },
    rejections,
    notes: [
      ...withheldNotes(closures, row.dry_run),
      ...doubts.map((doubt) => `Nothing was closed: ${doubt}.`),
      ...(absence.complete ? await coverageNotes(tx, resolution, scope) : []),
      ...closures.blocked.map(({ code, count }) => blockedNote(code, count)),
      ...unended.map((name) => `The track "${name}" was not ended: the asset has no open pull request or branch with this name whose findings do not count.`),
      ...inventoryNotes(staged),
      ...branchNotes,
      ...shared.map((name) => `${sharedName(name)} The import may be about another one than it used. Merge them, or give each its own name.`),
      ...report.notes,
    ],
    run,
    timeless,
    by_severity: changes.by_severity,
    grown: grown && !row.dry_run,
  };
}

/** Ends the pull requests and branches that the scope says are over. Returns the names that end nothing. */
async function endStated(tx: TenantTx, actor: Actor, follower: FindingFollower, { importId, names }: { importId: string; names: readonly string[] }) {
  if (names.length === 0) return [];
  const { rows } = await sql<{ asset_id: string }>`
    select distinct asset_id from ${importedAssets} a where a.org_id = ${actor.orgId} and a.import_id = ${importId} and a.asset_id is not null`.execute(tx);
  return endNamedTracks(tx, actor, follower, { names, assets: rows.map(({ asset_id }) => asset_id) });
}

/** Applies the decisions of people to what the import changed. `others` are findings that are back, or in other places. Returns the findings whose status changed. */
async function followDecisions(tx: TenantTx, { orgId, importId, sla, actor }: Resolution, others: readonly string[]): Promise<string[]> {
  const ids = sql`
    select finding_id from tenant_import_groups where org_id = ${orgId} and import_id = ${importId} and outcome <> 'unchanged'
    union all select finding_id from import_closures where org_id = ${orgId} and import_id = ${importId}
    union all ${idsSql(others)}`;
  const decisions = sql`select from decisions where org_id = ${orgId}`;
  if (!(await anyRows(tx, decisions)) || !(await anyRows(tx, sql`${decisions} and finding_id in (${ids})`))) return [];
  const risen = await reopenRiskIncreased(tx, actor, { ids, sla, importId });
  const regressed = await reopenRegressions(tx, actor, { sla, importId });
  const moved = await followPlaces(tx, actor, { ids, importId });
  await voidRequestsOfClosed(tx, orgId, ids);
  return [...risen, ...regressed, ...moved];
}

/** Which assets the run would name if they were still there. A connection lists everything its vendor has. */
function listedBy({ asset, assets, path }: ScanScope, { collected, format }: Report): Absence['lists'] {
  if (collected) return 'all_assets';
  const hasTargets = asset !== undefined || assets !== undefined || path !== undefined || format.states?.includes('targets');
  return hasTargets ? 'own_assets' : 'similar_assets';
}

/** What the file itself names, as opposed to whoever uploaded it. */
function namedBy({ format, about }: Report, { run, runByAsset, targets, tools }: Staged): Record<string, unknown> {
  const named = about?.tools ?? (format.id === GENERIC ? tools.filter((tool) => tool !== GENERIC) : [format.id]);
  const isTimed = [run, ...runByAsset.values()].some(({ started_at, finished_at }) => started_at !== undefined || finished_at !== undefined);
  return { targets, names_tool: named.length > 0, names_time: isTimed };
}

/** The facts of the run for all assets, and those for single ones. */
function runsOf(row: ImportRow, { format, collected }: Report, { run, runByAsset }: Staged): [RunOfAsset, Map<string, Partial<RunOfAsset>>] {
  const scope = row.scan_scope as ScanScope;
  const variant = scope.path === undefined && !collected ? lockFilesOf(run) : null;
  const all = { ...timesOf(row, run, format), credentialed: run.credentialed ?? null, knowledgeAt: run.knowledge_at ?? null, variant };
  const unspecified = scope.asset === UNSPECIFIED ? 'asset_unspecified' : null;
  const byAsset = new Map<string, Partial<RunOfAsset>>();
  for (const [key, own] of runByAsset) {
    const facts = { ...run, ...own };
    const times = timesOf(row, facts, format);
    const doubt = unspecified ?? (facts.inventory_only ? 'inventory_only' : facts.unfinished ? 'partially_covered' : times.doubt);
    byAsset.set(key, { ...times, doubt, credentialed: facts.credentialed ?? null, knowledgeAt: facts.knowledge_at ?? null });
  }
  for (const asset of collected?.partiallyCovered ?? []) byAsset.set(describeAsset(asset).stagingKey, { doubt: 'partially_covered' });
  return [{ ...all, doubt: unspecified ?? (run.inventory_only ? 'inventory_only' : run.unfinished ? 'partially_covered' : all.doubt) }, byAsset];
}

/** Of more lock files, it need not be known which ones were read. */
const MAX_LOCK_FILES = 200;

/** The lock files that the report names, as one text. A checkout can have another absolute path every time, so the last folder counts. */
function lockFilesOf({ lock_files = [] }: RunFacts): string | null {
  const names = lock_files.map((path) => (/^(?:\/|[a-z]:)/i.test(path) ? path.split('/').slice(-2).join('/') : path).replaceAll(/[\s,:]+/g, '_'));
  const unique = [...new Set(names)].sort();
  return unique.length === 0 || unique.length > MAX_LOCK_FILES ? null : unique.join(' ');
}

export function stagedRows({ received, rejected, seen }: Staged): Resolution['staged'] {
  return { rows: received - rejected - seen, seen };
}

/** Whoever deletes the staged records of an import, or uses them, has its row locked. */
export async function lockImport(tx: TenantTx, orgId: string, id: string): Promise<void> {
  await sql`select from imports where org_id = ${orgId} and id = ${id} for update`.execute(tx);
}

/** Staging tables are empty after a crash of the database, and a worker that lost its lease may still write to them. */
async function assertStaged(tx: TenantTx, { org_id, id }: ImportRow, { received, rejected }: Staged): Promise<void> {
  const count = (table: string) => sql`(select count(*) from ${sql.table(table)} where org_id = ${org_id} and import_id = ${id})`;
  const { rows } = await sql<{ count: number }>`select (${count('tenant_import_rows')} + ${count('tenant_import_seen')})::int as count`.execute(tx);
  if (rows[0]?.count !== received - rejected) throw new Error(`the staging tables have ${rows[0]?.count} of ${received - rejected} records`);
}

function withheldNotes({ withheld }: Closures, isDryRun: boolean): string[] {
  if (!withheld) return [];
  const what = isDryRun ? 'The import would need confirmation.' : 'Confirm or discard the import.';
  const { count, open, where } = withheld;
  if (where === 'settings') {
    const missing =
      count === 1 ? '1 finding is missing that a run with other settings has shown' : `${count} findings are missing that runs with other settings have shown`;
    return [`${missing}. The changed settings of the connection may leave ${count === 1 ? 'it' : 'them'} out. ${what}`];
  }
  if (where === 'asset') return [`${count} of ${open} open findings of this source on one asset would be closed. ${what}`];
  if (where === 'day') return [`${count} of ${open} open findings of this source would be closed within 24 hours. ${what}`];
  return [`${count} of ${open} open findings of this source would be closed. ${what}`];
}

function blockedNote(code: string, count: number): string {
  const because = isBlocker(code) ? blockers[code] : code;
  return `${count === 1 ? '1 finding that the report does not show stays open' : `${count} findings that the report does not show stay open`}: ${because}.`;
}
