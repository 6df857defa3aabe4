import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Asset, Observation, Rejection, ReportEntry, ReportFormat, RunFacts } from '@rrs/scan-reports';
import { observation } from '@rrs/scan-reports/normalize.ts';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import type { BlobStore } from '../../blobs/blobs.ts';
import { openFileStore } from '../../blobs/file-store.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { importHandler } from '../../findings/handlers.ts';
import { createImport, type ImportRow, readImport, type ScanScope } from '../../findings/import/manage-imports.ts';
import { type Reader, readerOf } from '../../findings/import/reading/read-report.ts';
import { importReport } from '../../findings/import/run-import.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { systemActor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';
import { followFindings } from '../../work-items/items/follow-findings.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';
import { directReader } from './reader.ts';

export type Item = Observation | Rejection | { run: RunFacts };

/** A report has one line of JSON per item. The line `null` throws, to simulate a crash. */
function formatOf(id: string): ReportFormat {
  return {
    id,
    name: id,
    description: 'Observations of a test',
    documentation: 'https://example.com/',
    expects: 'lines of JSON',
    assetType: 'repository',
    detect: () => false,
    async *read(input): AsyncGenerator<ReportEntry> {
      const chunks: Uint8Array[] = [];
      for await (const chunk of input.open()) chunks.push(chunk);
      for (const line of Buffer.concat(chunks).toString().split('\n')) {
        if (line === '') continue;
        const item = JSON.parse(line, revive) as Item | null;
        if (item === null) throw new Error('the worker is hit by lightning');
        if ('run' in item) yield item;
        else yield 'reason' in item ? { rejection: item } : { observation: item };
      }
    },
  };
}

const DATES = new Set(['first_seen', 'last_seen', 'started_at', 'finished_at', 'knowledge_at']);

function revive(key: string, value: unknown): unknown {
  return DATES.has(key) && typeof value === 'string' ? new Date(value) : value;
}

export const image: Asset = { type: 'container_image', name: 'registry.example.com/shop:prod' };

/** The same weakness in the given component, which makes it a different finding. */
export const inLib = (component: string, given: Partial<Observation> = {}): Observation => seen({ location: { component }, ...given });

/** An observation, by default of `CVE-2024-0001` in the component `lib` of an image. */
export function seen(given: Partial<Observation> = {}): Observation {
  return {
    ...observation({ place: 'line', tool: 'tool', title: 'A weakness', severity: 'high' }),
    vulnerability_ids: given.rule ? [] : ['CVE-2024-0001'],
    asset: image,
    location: given.rule ? { path: 'src/a.ts', line: 1 } : { component: 'lib' },
    ...given,
  };
}

export interface ImportOptions {
  source?: 'tool_a' | 'tool_b' | 'tool_c';
  scope?: ScanScope;
  dryRun?: boolean;
  signal?: AbortSignal;
}

/** When the database is created and dropped. */
export interface Lifetime {
  start(work: () => Promise<void>): void;
  end(work: () => Promise<void>): void;
  database(): Promise<TestDatabase>;
}

const ofTestFile: Lifetime = { start: (work) => beforeAll(work), end: (work) => afterAll(work), database: () => createTestDatabase() };

/** The import job on its own database, with reports that consist of given observations. */
export function useImports(lifetime: Lifetime = ofTestFile) {
  let testDatabase: TestDatabase;
  let db: Database;
  let admin: pg.Client;
  let blobs: BlobStore;
  const folder = mkdtempSync(join(tmpdir(), 'rrs-imports-'));
  lifetime.start(async () => {
    testDatabase = await lifetime.database();
    db = openDatabase({ url: testDatabase.url, poolSize: 4 });
    admin = new pg.Client({ connectionString: testDatabase.url });
    await admin.connect();
    await admin.query('set search_path = rrs');
    blobs = openFileStore(folder);
  });
  lifetime.end(async () => {
    await db?.close();
    await admin?.end();
    await testDatabase?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  const organization = async (): Promise<string> => {
    const id = newId();
    await admin.query('insert into organizations (id, slug, name) values ($1, $2, $2)', [id, id]);
    return id;
  };
  const start = async (
    orgId: string,
    items: readonly (Item | null)[],
    { source = 'tool_a', scope = {}, dryRun = false }: ImportOptions = {},
  ): Promise<string> => {
    const text = items.map((item) => `${JSON.stringify(item)}\n`).join('');
    const blob = await blobs.put(Readable.from([Buffer.from(text)]));
    const input = { format: source, filename: null, sha256: blob.sha256, bytes: blob.size, scan_scope: scope, dry_run: dryRun };
    return (await db.withTenant({ orgId }, (tx) => createImport(tx, systemActor(orgId, 'test'), input))).id;
  };
  /** Runs one attempt of the job. */
  const attempt = (
    orgId: string,
    id: string,
    context: Partial<JobContext> = {},
    change: (format: ReportFormat) => ReportFormat = (format) => format,
  ): Promise<void> =>
    importHandler(blobs, followFindings, readerOf(['tool_a', 'tool_b', 'tool_c'].map((name) => change(formatOf(name))))).run(
      { org_id: orgId, import_id: id },
      { db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: false, ...context },
    );
  const read = (orgId: string, id: string): Promise<ImportRow> => db.withTenant({ orgId }, (tx) => readImport(tx, orgId, id));

  return {
    db: () => db,
    /** To start an API over the same database. */
    url: () => testDatabase.url,
    follower: followFindings,
    admin: () => admin,
    organization,
    start,
    attempt,
    read,
    async run(orgId: string, items: readonly Item[], options: ImportOptions = {}): Promise<ImportRow> {
      const id = await start(orgId, items, options);
      await attempt(orgId, id);
      return read(orgId, id);
    },
    /** Imports what a run of a connection collected. `covers` are all assets that its vendor lists. */
    async collect(orgId: string, connectionId: string, run: { items: readonly Item[]; covers: readonly Asset[]; scope: ScanScope }): Promise<ImportRow> {
      const id = await start(orgId, run.items, { scope: run.scope });
      const context = { db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: false };
      const source = { kind: 'connection', provider: 'tool_a', tool: '', name: connectionId, path: '' } as const;
      await admin.query('update imports set connection_id = $2 where id = $1', [id, connectionId]);
      const collected = { source, covers: run.covers, partiallyCovered: [], cautious: false };
      await importReport({ blobs, follower: followFindings, reader: readerOf([formatOf('tool_a')]) }, context, { orgId, importId: id }, collected);
      return read(orgId, id);
    },
    /** Imports a scanner's file with the service's own formats. */
    async runFile(
      orgId: string,
      file: { format: string | null; name: string; bytes: Uint8Array; dryRun?: boolean },
      scope: ScanScope = {},
      reader: Reader = directReader,
    ): Promise<ImportRow> {
      const blob = await blobs.put(Readable.from([file.bytes]));
      const input = { format: file.format, filename: file.name, sha256: blob.sha256, bytes: blob.size, scan_scope: scope, dry_run: file.dryRun ?? false };
      const { id } = await db.withTenant({ orgId }, (tx) => createImport(tx, systemActor(orgId, 'test'), input));
      const context = { db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: false };
      await importHandler(blobs, followFindings, reader).run({ org_id: orgId, import_id: id }, context);
      return read(orgId, id);
    },
    stateOf: (orgId: string, options: StateOptions = {}) => stateOf(admin, orgId, options),
    rowsOf: (orgId: string) => rowsOf(admin, orgId),
    async findings(orgId: string): Promise<FindingState[]> {
      return (await admin.query<FindingState>(`${FINDINGS} order by f.weakness, a.name, f.location::text`, [orgId])).rows;
    },
  };
}

export type Engine = ReturnType<typeof useImports>;

export interface FindingState {
  id: string;
  asset: string;
  weakness: string;
  identity_key: string;
  status: string;
  assurance: string | null;
  severity: number;
  title: string;
  reopen_count: number;
  location: Record<string, unknown>;
  tags: string[];
  sightings: { source: string; state: string; external_id: string | null; suppressed: boolean }[];
}

const FINDINGS = `
  select f.id, a.name as asset, f.weakness, encode(f.identity_key, 'hex') as identity_key, f.status, f.assurance, f.severity, f.source_severity, f.title, f.reopen_count, f.location, f.tags,
    f.vulnerability_ids, f.cwes, f.cvss_version, f.cvss_vector, f.cvss_score, f.epss, f.epss_percentile, f.epss_date, f.kev, f.malicious, f.exploit_maturity, f.fix_state, f.fix_published_date, f.severity_source,
    f.severity_disputed, f.rule, f.component, (select t.description from finding_texts t where t.org_id = f.org_id and t.id = f.text_id) as description, case when f.status in ('open', 'in_progress', 'remediated') then f.place_count end as place_count, f.risk_score, f.first_seen, f.last_seen, f.due_at, f.status_reason, f.search::text,
    (select coalesce(jsonb_agg(jsonb_build_object('source', o.provider, 'state', s.state, 'external_id', s.external_id, 'severity', s.severity, 'suppressed', s.suppressed, 'track', t.name)
      order by o.provider, o.name, t.name), '[]') from sightings s join sources o on o.org_id = s.org_id and o.id = s.source_id
      left join asset_tracks t on t.org_id = f.org_id and t.asset_id = f.asset_id and t.n = s.track where s.org_id = f.org_id and s.finding_id = f.id) as sightings
  from findings f join assets a on a.org_id = f.org_id and a.id = f.asset_id where f.org_id = $1`;

interface StateOptions {
  /** Whether to compare the names of assets. */
  names?: boolean;
  /** Whether to leave out what depends on the order of imports: how often a finding was reopened and what follows from it, and findings that are part of others now. */
  lawful?: boolean;
}

/** What depends on which scan reopened a finding. When it was last seen is written once a day. */
const ordered = ({ last_seen }: Record<string, unknown>) => ({
  reopen_count: null,
  status_reason: null,
  due_at: null,
  last_seen: last_seen instanceof Date ? last_seen.toISOString().slice(0, 10) : null,
});

/** Everything that an import can change, without row ids and write times. */
async function stateOf(
  admin: pg.Client,
  orgId: string,
  { names = true, lawful = false }: StateOptions,
): Promise<Record<'findings' | 'keys' | 'aliases', string[]>> {
  const findings = await admin.query(lawful ? `${FINDINGS} and f.merged_into is null` : FINDINGS, [orgId]);
  const keys = await admin.query(
    `select a.type, k.key, k.rank from asset_keys k join assets a on a.org_id = k.org_id and a.id = k.asset_id where k.org_id = $1`,
    [orgId],
  );
  const aliases = await admin.query('select alias, weakness from vulnerability_aliases where org_id = $1', [orgId]);
  const sources = await admin.query('select id, provider from sources where org_id = $1', [orgId]);
  const named = (text: string): string => sources.rows.reduce((all: string, { id, provider }) => all.replaceAll(id, provider), text);
  const lines = (rows: readonly Record<string, unknown>[]) =>
    rows.map(({ id: _, ...row }) => named(JSON.stringify({ ...row, ...(names ? {} : { asset: null, search: null }), ...(lawful ? ordered(row) : {}) }))).sort();
  return { findings: lines(findings.rows), keys: lines(keys.rows), aliases: lines(aliases.rows) };
}

const WRITTEN = ['findings', 'sightings', 'assets', 'asset_keys', 'vulnerability_aliases', 'finding_texts', 'finding_history', 'sources', 'import_closures'];

/** Every row with its physical location. Two snapshots are equal if nothing was written in between. */
async function rowsOf(admin: pg.Client, orgId: string): Promise<unknown> {
  const rows: Record<string, string[]> = {};
  for (const table of WRITTEN) {
    rows[table] = (await admin.query(`select xmin::text || ctid::text || ${table}::text as row from ${table} where org_id = $1`, [orgId])).rows
      .map(({ row }) => row)
      .sort();
  }
  const events = await admin.query(`select id from events where org_id = $1 and type not like 'import.%' order by id`, [orgId]);
  return { ...rows, events: events.rows };
}
