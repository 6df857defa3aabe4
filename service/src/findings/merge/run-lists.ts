import type { LookedFor, RunFacts } from '@rrs/scan-reports';
import { type RawBuilder, sql } from 'kysely';
import { assetVersions } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import type { Resolution, RunSize } from './resolution.ts';

/** Longer lists are not stored. A report that arrives late then cannot be judged by the run. */
const MAX_STORED = 20_000;

/** A run that lists fewer files than this share of an earlier one may have been restricted to some of them. */
export const FILES_SHARE = 0.8;

/** What a run looked at, and what it left out. A list that the report does not have is null, and one that would say nothing without entries is empty. */
interface RunLists {
  checks: readonly string[] | null;
  files: readonly string[] | null;
  components: readonly string[];
  ports: readonly PortRange[];
  /** Files and folders that the tool did not read. */
  unread: readonly string[];
  /** Checks that were skipped in a file, or everywhere if the path is null. */
  skipped: readonly { rule: string; path: string | null }[];
  /** Files and folders in which the tool left out findings. */
  hidden: readonly string[];
  leftOut: readonly LookedFor[];
  restrictions: readonly string[];
}

function kindLit(kind: LookedFor): RawBuilder<unknown> {
  return sql.lit(kind);
}

/** The kinds of a finding or staged record `x` that tools have options to leave out. `severity` is what the source says. */
export function kindsSql(x: 'f' | 'r', severity: RawBuilder<unknown>): RawBuilder<unknown> {
  const [fixState, location, component, rule, cwes] = ['fix_state', 'location', 'component', 'rule', 'cwes'].map((column) => sql.ref(`${x}.${column}`));
  return sql`array[
    case when ${severity} between 1 and 3 then ${kindLit('up_to_medium')} end,
    (array[${sql.join((['info', 'low', 'medium', 'high', 'critical'] as const).map(kindLit))}])[${severity}],
    case when ${fixState} is distinct from 'available' then ${kindLit('without_fix')} end,
    case when ${location}->>'purl' ~ '^pkg:(deb|rpm|apk|alpm)/' or ${location}->>'ecosystem' in ('deb', 'rpm', 'apk', 'alpm') then ${kindLit('system_packages')}
      when ${component} is not null then ${kindLit('libraries')} when ${location} ? 'path' then ${kindLit('files')} end,
    case when ${rule} like 'license:%' then ${kindLit('licenses')} when ${component} is not null then null
      when 798 = any(${cwes}) or ${rule} like 'CKV\\_SECRET\\_%' then ${kindLit('secrets')} else ${kindLit('misconfigurations')} end,
    ${kindLit('known')}]`;
}

export interface PortRange {
  protocol: string;
  low: number;
  high: number;
}

/** `tcp/1-1024` as the formats write it. */
export function portRange(text: string): PortRange {
  const [, protocol = 'any', low, high] = /^([^/]*)\/(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  return { protocol, low: Number(low ?? 0), high: Number(high ?? low ?? 0) };
}

const PROTOCOLS = ['any', 'tcp', 'udp'];

/** Whether the location is on a port outside of ranges, each of which is a protocol, its first and its last port. */
function isOutsideSql(location: RawBuilder<unknown>, entries: RawBuilder<unknown>): RawBuilder<boolean> {
  const protocol = sql`array_position(${PROTOCOLS}::text[], coalesce(${location}->>'protocol', 'tcp')) - 1`;
  return sql`(${location} ? 'port' and (${location}->>'port')::int > 0 and not exists (
    select from generate_series(1, cardinality(${entries}), 3) as at
    where (${entries})[at] in (0, ${protocol}) and (${location}->>'port')::int between (${entries})[at + 1] and (${entries})[at + 2]))`;
}

function portEntries(ports: readonly PortRange[]): number[] {
  return ports.flatMap(({ protocol, low, high }) => [PROTOCOLS.indexOf(protocol), low, high]);
}

/** Whether the location is on a port that a run did not scan. A run that lists no ports may have scanned all. */
export function isPortLeftOut(location: RawBuilder<unknown>, ports: readonly PortRange[]): RawBuilder<boolean> {
  return ports.length === 0 ? sql`false` : isOutsideSql(location, sql`${portEntries(ports)}::int[]`);
}

/** The first 32 bits of a hash: a list of 20,000 entries has a false match once in 200,000 searches. */
function hashSql(text: RawBuilder<unknown>): RawBuilder<number> {
  return sql`('x' || left(md5(${text}), 8))::bit(32)::integer`;
}

/** How a component in one version is listed. `name` is in lower case. */
export function componentEntry(name: string, version: string): string {
  return `${name}@${version}`;
}

/** Lock files whose numbers of dependencies differ by more than this share of the larger one, and by more than ten, are different ones. */
const SIZE_SHARE = 0.2;

/**
 * Whether a run may be about another lock file than the one that saw a finding, or have read none. Nothing is known if that one tells neither how many
 * dependencies it checked nor its components, and lists no lock file without findings. Both are the facts of a run.
 */
export function hasOtherSizeSql(seen: RawBuilder<unknown>, later: RawBuilder<unknown>): RawBuilder<boolean> {
  const count = (run: RawBuilder<unknown>, fact: keyof RunSize) => sql`(${run}->>${sql.lit(fact)})::int`;
  const hasNone = (fact: keyof RunSize, ofLater = fact) => sql`(${count(seen, fact)} > 0 and coalesce(${count(later, ofLater)}, 0) = 0)`;
  const [before, after] = [count(seen, 'dependencies'), count(later, 'dependencies')];
  const differs = sql`abs(${before} - ${after}) > greatest(10, ${SIZE_SHARE}::float8 * greatest(${before}, ${after}))`;
  return sql`coalesce(${hasNone('dependencies')} or ${hasNone('components')} or ${hasNone('clean_lock_files', 'lock_files')} or ${differs}, false)`;
}

export function sizeOf({ dependencies, components, lock_files, clean_lock_files }: Pick<RunFacts, keyof RunSize>): RunSize {
  return { dependencies, components: components?.length, lock_files: lock_files?.length, clean_lock_files };
}

/**
 * Whether a platform or machine is one of those that a run looked at. A machine is the same if it has one of the addresses or ids. A machine with another MAC address
 * is another asset. Null if the run does not say at which it looked.
 */
export function isSameVariantSql(one: RawBuilder<unknown>, ofRun: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(string_to_array(${one}, ' ') && string_to_array(translate(${ofRun}, ',', ' '), ' '))`;
}

/** Whether the lists of a run tell what it did not look at. Those of components tell nothing of the kind. */
export function isSelective({ components: _, checks, files, ...others }: RunLists): boolean {
  return checks !== null || files !== null || Object.values(others).some((list) => list.length > 0);
}

/** Keeps what the run lists for reports of older scans that arrive later. */
export async function recordLists(tx: TenantTx, { orgId, importId }: Resolution, run: RunLists): Promise<void> {
  const lists = {
    checks: run.checks,
    files: run.files,
    components: orNull(run.components),
    unread: orNull(run.unread),
    skipped: orNull(run.skipped.map(({ rule, path }) => `${rule}\n${path ?? ''}`)),
    hidden: orNull(run.hidden),
    left_out: orNull(run.leftOut),
    restrictions: orNull(run.restrictions),
  };
  const stored = Object.entries(lists).flatMap(([kind, entries]) => (entries && entries.length <= MAX_STORED ? [{ kind, entries }] : []));
  const isTooLong = Object.values(lists).some((entries) => entries !== null && entries.length > MAX_STORED);
  for (const { kind, entries } of stored) {
    await sql`
      insert into run_lists (org_id, import_id, kind, entries)
      select ${orgId}, ${importId}, ${kind}, array_agg(distinct ${hashSql(sql`entry`)}) from unnest(${entries as string[]}::text[]) as entry`.execute(tx);
  }
  const stores = (kind: 'ports' | 'too_long', entries: number[]) =>
    tx.insertInto('run_lists').values({ org_id: orgId, import_id: importId, kind, entries }).execute();
  if (run.ports.length > 0) await stores('ports', portEntries(run.ports));
  if (isTooLong) await stores('too_long', []);
}

const orNull = <Entry>(list: readonly Entry[]): readonly Entry[] | null => (list.length > 0 ? list : null);

/** The names that tools may use for a check when they skip it everywhere: all of it, or its last parts. */
export function namesOfCheck(rule: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select array_to_string((string_to_array(${rule}, '.'))[n:], '.') from generate_series(1, cardinality(string_to_array(${rule}, '.'))) as n`;
}

/** Whether a list has one of the texts. */
function hasAny(texts: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`exists (select from (${texts}) as texts (text) where ${hashSql(sql`text`)} = any(list.entries))`;
}

/** Where a check can be skipped: in the file of the location, or on its site. */
export function placeOfCheck(location: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce(${location}->>'path', substring(${location}->>'url' from '^[^/]+//[^/]+'))`;
}

const pathOfRecord = sql`r.location->>'path'`;
const foldersOfRecord = sql`select array_to_string((string_to_array(${pathOfRecord}, '/'))[:n], '/') from generate_series(1, cardinality(string_to_array(${pathOfRecord}, '/'))) as n`;

const isInList = (text: RawBuilder<unknown>) => sql`(${hashSql(text)} = any(list.entries))`;

/** Whether the list of a run says that it passed over the place of the record `r`. */
const isPassedOver = sql`case list.kind
  when 'unread' then ${hasAny(foldersOfRecord)}
  when 'skipped' then ${hasAny(sql`select r.rule || E'\\n' || ${placeOfCheck(sql`r.location`)} union all select name || E'\\n' from (${namesOfCheck(sql`r.rule`)}) as names (name)`)}
  when 'hidden' then ${hasAny(sql`${foldersOfRecord} union all select '.'`)}
  end`;

/** Whether whoever uploaded the report of the import `i` states that all of the repository was scanned. */
export const isWholeStated = sql<boolean>`jsonb_typeof(i.run->'unstated'->'whole') = 'array'`;

/** Whether the list of files of a run is so long, compared with that of an older scan, that a file that it does not have was removed. */
const isLongEnough = ({ files }: Resolution) => sql`cardinality(list.entries) >= ${FILES_SHARE}::float8 * ${files}::int`;

/** Whether the run of the import `later` lists the files that it read, but not that of the record `r` of an older scan, which had read many more. */
export function isInShorterListSql(resolution: Resolution, later: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`exists (
    select from run_lists list where list.org_id = ${resolution.orgId} and list.import_id = ${later} and list.kind = 'files'
      and ${hashSql(pathOfRecord)} <> all(list.entries) and not coalesce(${isLongEnough(resolution)}, false))`;
}

/**
 * Whether the run of the import `later` would have found the record `r` of a report of an older scan, as far as its lists tell. A file that the list does
 * not have was removed, unless the older scan had read many more and nobody states that all of the repository was scanned.
 */
export function wouldShowSql(resolution: Resolution, later: RawBuilder<unknown>): RawBuilder<boolean> {
  const { orgId, restrictions } = resolution;
  const hasRead = sql`${hashSql(pathOfRecord)} = any(list.entries) or ${isLongEnough(resolution)}`;
  return sql`coalesce((
    select bool_and(coalesce(case list.kind
      when 'checks' then r.rule is null or (${isInList(sql`r.rule`)} and not ${isUncheckedThere(sql`r.rule`, sql`r.location`, isInList)})
      when 'files' then not r.location ? 'path' or ${hasRead} or (select ${isWholeStated} from imports i where i.org_id = ${orgId} and i.id = ${later})
      when 'ports' then not ${isOutsideSql(sql`r.location`, sql`list.entries`)}
      when 'unread' then not ${isPassedOver} when 'skipped' then not ${isPassedOver} when 'hidden' then not ${isPassedOver}
      when 'left_out' then not ${hasAny(sql`select unnest(${kindsSql('r', sql`r.severity`)})`)}
      when 'restrictions' then list.entries <@ array(select ${hashSql(sql`own`)} from unnest(${restrictions as string[]}::text[]) as own)
      else false end, false))
    from run_lists list where list.org_id = ${orgId} and list.import_id = ${later} and list.kind <> 'components'), false)`;
}

/** Whether a list of checks, which `isListed` looks in, says that others were made on a resource, but not this one. */
export function isUncheckedThere(rule: RawBuilder<unknown>, location: RawBuilder<unknown>, isListed: (entry: RawBuilder<unknown>) => RawBuilder<unknown>) {
  const resource = sql`(${location}->>'resource')`;
  return sql<boolean>`coalesce(${isListed(resource)} and not ${isListed(sql`(${rule} || ' ' || ${resource})`)}, false)`;
}

/** Options that leave out places. A finding can have several, of which a run with the option sees only some. */
export const LEAVES_OUT_PLACES = '^(target |exclude=|scope=)';

/**
 * Whether the run of the import `later` looked at the place of the record `r` of a report of an older scan, and said what it found there, as far as its report
 * tells.
 */
export function looksAtPlaceSql({ orgId, restrictions }: Resolution, later: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(not exists (
      select from run_lists list where list.org_id = ${orgId} and list.import_id = ${later} and list.kind in ('unread', 'skipped', 'hidden') and ${isPassedOver})
    and not exists (
      select from imports i cross join lateral jsonb_array_elements_text(i.run->'restrictions') as option
      where i.org_id = ${orgId} and i.id = ${later} and option ~ ${LEAVES_OUT_PLACES} and option <> all(${restrictions as string[]}::text[])))`;
}

/** Whether the run of the import `later` lists the files that it read, if the run of the record `r` of an older scan does. Without them, it may have read none. */
export function listsFilesSql({ orgId, files }: Resolution, later: RawBuilder<unknown>): RawBuilder<boolean> {
  if (!files) return sql`true`;
  return sql`(not r.location ? 'path' or exists (
    select from run_lists list where list.org_id = ${orgId} and list.import_id = ${later} and list.kind in ('files', 'too_long')))`;
}

/** Whether the report of the import `later` may have left out findings that the tool was told to ignore. */
export function leavesOutSuppressedSql(orgId: string, later: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`exists (select from imports i where i.org_id = ${orgId} and i.id = ${later} and (i.run->'unstated'->>'suppressed')::boolean)`;
}

/** Whether the run of the import `later` lists a component in a version. */
export function listsComponentSql(orgId: string, later: RawBuilder<unknown>, { component, version }: Record<'component' | 'version', RawBuilder<unknown>>) {
  return sql<boolean>`exists (
    select from run_lists list where list.org_id = ${orgId} and list.import_id = ${later} and list.kind = 'components'
      and ${hashSql(sql`${component} || '@' || ${version}`)} = any(list.entries))`;
}

/** When other complete runs of a source covered the build that the run with the alias `x` of `run_assets` covered, on its track. */
export function sameBuildAtSql({ orgId, sourceId }: { orgId: string; sourceId: string }, x: string): RawBuilder<unknown> {
  const of = (column: string) => sql.ref(`${x}.${column}`);
  return sql`array(
    select same.ended_at from run_assets same
    left join ${assetVersions} its_build on its_build.org_id = ${orgId} and its_build.asset_id = ${of('asset_id')} and its_build.n = ${of('version_n')}
    left join ${assetVersions} same_build on same_build.org_id = ${orgId} and same_build.asset_id = ${of('asset_id')} and same_build.n = same.version_n
    where same.org_id = ${orgId} and same.source_id = ${sourceId} and same.asset_id = ${of('asset_id')} and same.track = ${of('track')} and same.import_id <> ${of('import_id')}
      and same.complete and same.accepted and coalesce(same.build_ids && ${of('build_ids')}, same_build.digest = its_build.digest or same_build.commit = its_build.commit, false))`;
}

/** Whether one of the times lies between the first and the last sighting of `s`, and a scan at that time is not known to have left the finding out. */
export function wasShownAtSql(times: RawBuilder<unknown>, lastSeen: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`exists (select from unnest(${times}) as at where at between s.first_seen and ${lastSeen} and not coalesce(s.unseen @> at, false))`;
}
