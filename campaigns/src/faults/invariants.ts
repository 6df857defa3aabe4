import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { rootFromLeaves, toHex } from '../../../evidence-format/src/index.ts';
import type { Ledger } from './ledger.ts';
import type { Outside } from './outside.ts';
import type { upgrades } from './upgrades.ts';

export interface Facts {
  admin: pg.Client;
  dataDir: string;
  ledger: Ledger;
  outside: Outside;
  upgrading: ReturnType<typeof upgrades>;
}

/** A job that two kills interrupted ends as failed, with this reason: it might be what ends the process. */
const ABANDONED = 'Twice, the process that worked on it ended without finishing it';

type Row = Record<string, unknown>;

async function rows<T extends Row = Row>(admin: pg.Client, sql: string, values: unknown[] = []): Promise<T[]> {
  return (await admin.query<T>(sql, values)).rows;
}

/** An import is visible as a whole or not at all, also while it is repeated. `newest` limits it to the last ones. */
export async function halfImports({ admin, ledger }: Facts, newest = Number.POSITIVE_INFINITY): Promise<string[]> {
  const imports = [...ledger.imports.values()].slice(-newest);
  const assets = new Map(imports.map(({ asset, records }) => [asset, records]));
  const counts = await rows<{ name: string; count: number }>(
    admin,
    `select a.name, count(*)::int as count from findings f join assets a on a.org_id = f.org_id and a.id = f.asset_id where a.name = any ($1) group by 1`,
    [[...assets.keys()]],
  );
  return counts.flatMap(({ name, count }) => (count === assets.get(name) ? [] : [`${count} of ${assets.get(name)} findings of ${name} are visible`]));
}

/** What still has to end. */
export async function pending({ admin, ledger, outside }: Facts): Promise<string[]> {
  const found = await rows<{ what: string }>(
    admin,
    `select 'import ' || id as what from imports where status in ('queued', 'running')
     union all select 'run ' || id from sync_runs where status in ('queued', 'running')
     union all select 'package ' || id from evidence_packages where status = 'generating'
     union all select 'delivery ' || id from webhook_deliveries where status = 'pending'
     union all select 'job ' || identifier from graphile_worker._private_jobs job join graphile_worker._private_tasks task on task.id = task_id
       where locked_at is not null or (run_at <= now() and attempts < max_attempts)`,
  );
  const delivered = new Set(outside.deliveries.map(({ subject }) => subject));
  const missing = [...ledger.findings.keys()].filter((id) => !delivered.has(id));
  return [...found.map(({ what }) => what), ...missing.map((id) => `delivery about finding ${id}`)];
}

/** Work that two kills in a row interrupted. */
export async function countAbandoned({ admin }: Facts): Promise<number> {
  const [found] = await rows<{ count: number }>(
    admin,
    `select count(*)::int as count from (select error from imports union all select error from sync_runs union all select error from evidence_packages) all_work
     where error like '%${ABANDONED}%'`,
  );
  return found?.count ?? 0;
}

/** Tickets wait at least a minute after a lost response, so they are looked at only in the end. */
export async function pendingTickets({ admin }: Facts): Promise<string[]> {
  return (await rows<{ id: string }>(admin, `select work_item_id as id from tickets where status <> 'linked'`)).map(({ id }) => id);
}

/** Everything that holds when nothing is pending. */
export async function violationsIn(facts: Facts): Promise<string[]> {
  const checks = [acknowledged, halfImports, endings, deliveries, duplicateTickets, audit, transparencyLog, store, queue, schema];
  const found: string[] = [];
  for (const check of checks) found.push(...(await check(facts)));
  return found;
}

async function missing({ admin }: Facts, what: string, table: string, ids: Iterable<string>): Promise<string[]> {
  const lost = await rows<{ id: string }>(admin, `select id from unnest($1::uuid[]) id where not exists (select from ${table} t where t.id = id.id)`, [
    [...ids],
  ]);
  return lost.map(({ id }) => `the acknowledged ${what} ${id} is lost`);
}

async function acknowledged(facts: Facts): Promise<string[]> {
  const { admin, ledger } = facts;
  const lost = [
    await missing(facts, 'finding', 'findings', ledger.findings.keys()),
    await missing(facts, 'import', 'imports', ledger.imports.keys()),
    await missing(facts, 'run', 'sync_runs', ledger.runs.keys()),
    await missing(facts, 'work item', 'work_items', ledger.items),
    await missing(facts, 'package', 'evidence_packages', ledger.packages),
  ].flat();
  const pushed = await rows<{ id: string }>(
    admin,
    `select id from unnest($1::uuid[]) id where not exists (select from tickets t where t.work_item_id = id.id)`,
    [[...ledger.tickets]],
  );
  const twice = await rows<{ title: string }>(admin, `select title from findings where title like 'finding-%' group by title having count(*) > 1`);
  return [
    ...lost,
    ...pushed.map(({ id }) => `the acknowledged ticket of work item ${id} is lost`),
    ...twice.map(({ title }) => `${title} was created more than once`),
  ];
}

async function endings({ admin }: Facts): Promise<string[]> {
  const found = await rows<{ what: string }>(
    admin,
    `select 'import ' || id || ' ended as ' || status || ': ' || coalesce(error, '') as what from imports where status <> 'succeeded' and error not like '%${ABANDONED}%'
     union all select 'import ' || id || ' read ' || received || ' records' from imports where connection_id is null and status = 'succeeded' and received <> 400
     union all select 'run ' || id || ' ended as ' || status || ': ' || coalesce(error, '') from sync_runs where status <> 'succeeded' and error not like '%${ABANDONED}%'
     union all select 'package ' || id || ' ended as ' || status || ': ' || coalesce(error, '') from evidence_packages where status = 'failed' and error not like '%${ABANDONED}%'
     union all select 'delivery ' || id || ' failed: ' || coalesce(error, '') from webhook_deliveries where status = 'failed'`,
  );
  const counts = await rows<{ received: number; runs: number }>(
    admin,
    `select received, count(*)::int as runs from imports where connection_id is not null and status = 'succeeded' group by received`,
  );
  const different = counts.length > 1 ? [`runs of the same vendor received ${counts.map(({ received }) => received).join(' and ')} records`] : [];
  const [scanner] = await rows<{ visible: number; created: number }>(
    admin,
    `select (select count(*)::int from findings f join assets a on a.org_id = f.org_id and a.id = f.asset_id where a.name like 'acme/%') as visible,
       (select coalesce(sum(created), 0)::int from imports where connection_id is not null) as created`,
  );
  const expected = scanner?.visible === scanner?.created ? [] : [`${scanner?.visible} findings of the scanner, whose runs created ${scanner?.created}`];
  return [...found.map(({ what }) => what), ...different, ...expected];
}

const ONCE = ['finding.created', 'import.succeeded', 'package.ready'];

/** At least once, and a repetition has the same id. */
async function deliveries({ ledger, outside }: Facts): Promise<string[]> {
  const sent = outside.deliveries.filter(({ type }) => ONCE.includes(type));
  const ids = new Map(
    [...Map.groupBy(sent, ({ type, subject }) => `${type} for ${subject}`)].map(([what, all]) => [what, new Set(all.map(({ id }) => id)).size]),
  );
  const missing = [...ledger.findings.keys()].map((id) => `finding.created for ${id}`).filter((what) => !ids.has(what));
  return [
    ...missing.map((what) => `no delivery of ${what}`),
    ...[...ids].flatMap(([what, count]) => (count === 1 ? [] : [`${count} different deliveries of ${what}`])),
  ];
}

async function duplicateTickets({ outside }: Facts): Promise<string[]> {
  return [...outside.ticketsByLabel()].flatMap(([label, count]) => (count > 1 ? [`${count} tickets have the label ${label}`] : []));
}

async function audit({ admin, ledger }: Facts): Promise<string[]> {
  const wrong = await rows<{ id: string; count: number }>(
    admin,
    `select id.id, count(a.id)::int as count from unnest($1::uuid[]) id left join audit_events a on a.object_id = id.id::text and a.action = 'finding.created'
     group by 1 having count(a.id) <> 1`,
    [[...ledger.findings.keys()]],
  );
  return wrong.map(({ id, count }) => `finding ${id} has ${count} audit events about its creation`);
}

/** One epoch without gaps, every checkpoint is the root of its leaves, and every package is in the log. */
async function transparencyLog({ admin }: Facts): Promise<string[]> {
  const leaves = await rows<{ epoch: number; index: string; leaf_hash: Buffer }>(admin, 'select epoch, index, leaf_hash from log_leaves order by epoch, index');
  const gaps = leaves.flatMap(({ epoch, index }, n) =>
    epoch === 1 && Number(index) === n ? [] : [`entry ${n} of the log has index ${index} in epoch ${epoch}`],
  );
  const checkpoints = await rows<{ size: string; root: Buffer }>(admin, 'select size, root from log_checkpoints order by epoch, size desc limit 5');
  const hashes = leaves.map(({ leaf_hash }) => new Uint8Array(leaf_hash));
  const forged = checkpoints.flatMap(({ size, root }) =>
    toHex(rootFromLeaves(hashes.slice(0, Number(size)))) === root.toString('hex') ? [] : [`the checkpoint of size ${size} is not the root of its entries`],
  );
  const outside = await rows<{ id: string }>(
    admin,
    `select id from evidence_packages p where status in ('ready', 'superseded')
     and not exists (select from log_leaves l where l.org_id = p.org_id and l.epoch = p.log_epoch and l.index = p.log_index and l.package_id = p.id)`,
  );
  return [...gaps.slice(0, 3), ...forged, ...outside.map(({ id }) => `package ${id} is not in the log`)];
}

/** Every file that a table names is in the store, with its size. */
async function store({ admin, dataDir }: Facts): Promise<string[]> {
  const files = await rows<{ sha256: string; size: string | null }>(
    admin,
    `select sha256, bytes as size from imports where file_deleted_at is null
     union select archive_sha256, archive_size from evidence_packages where archive_sha256 is not null
     union select sha256, size from artifacts where sha256 is not null
     union select sha256, null from package_blobs`,
  );
  const wrong = files.map(async ({ sha256, size }) => {
    const found = await stat(join(dataDir, 'blobs', sha256.slice(0, 2), sha256.slice(2, 4), sha256)).catch(() => null);
    if (!found) return [`the file ${sha256} is missing in the store`];
    return size === null || found.size === Number(size) ? [] : [`the file ${sha256} has ${found.size} bytes instead of ${size}`];
  });
  return (await Promise.all(wrong)).flat();
}

/** No job was given up, no ticket was forgotten, and no import left rows behind. */
async function queue({ admin }: Facts): Promise<string[]> {
  const given = await rows<{ what: string }>(
    admin,
    `select identifier || ': ' || coalesce(last_error, '') as what from graphile_worker._private_jobs job
     join graphile_worker._private_tasks task on task.id = task_id where attempts >= max_attempts and locked_at is null`,
  );
  const forgotten = await rows<{ id: string }>(
    admin,
    `select work_item_id as id from tickets t where status <> 'linked' and unlinked_at is null
     and not exists (select from graphile_worker._private_jobs job where job.key = 'ticket ' || t.id)`,
  );
  const staged = await rows<{ what: string; count: number }>(
    admin,
    `select 'import_rows' as what, count(*)::int as count from import_rows union all select 'import_assets', count(*)::int from import_assets
     union all select 'sync_run_batches', count(*)::int from sync_run_batches b join sync_runs r on r.id = b.run_id where r.status <> 'running'`,
  );
  return [
    ...given.map(({ what }) => `a job was given up: ${what}`),
    ...forgotten.map(({ id }) => `the ticket of work item ${id} is not linked, and no job will do it`),
    ...staged.flatMap(({ what, count }) => (count > 0 ? [`${count} rows are left in ${what}`] : [])),
  ];
}

/** A migration is applied as a whole or not at all, and what was reported as applied stays. */
async function schema({ admin, ledger, upgrading }: Facts): Promise<string[]> {
  const [state] = await rows<{ version: number }>(admin, 'select max(version)::int as version from schema_migrations');
  const applied = state?.version ?? 0;
  const columns = await rows<{ name: string; count: number }>(
    admin,
    `select attname as name, count(*)::int as count from pg_attribute a join pg_class c on c.oid = attrelid
     where c.relnamespace = 'rrs'::regnamespace and c.relkind = 'r' and attname ~ '^next_\\d+$' and not attisdropped group by 1`,
  );
  const found = new Map(columns.map(({ name, count }) => [name, count]));
  const wrong: string[] = applied < ledger.schema ? [`the schema has version ${applied}, although version ${ledger.schema} was applied`] : [];
  for (let n = upgrading.first; n <= upgrading.last(); n++) {
    const { name, count } = upgrading.columnsOf(n, applied);
    if ((found.get(name) ?? 0) !== count) wrong.push(`schema version ${n} is half applied`);
  }
  return wrong;
}
