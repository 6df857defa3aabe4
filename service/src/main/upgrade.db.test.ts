import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { withClient } from '../db/connection/with-client.ts';
import { migrate, readMigrations } from '../db/migrate.ts';
import { OperatorError } from '../shared/errors.ts';
import { startApi, type TestApi } from '../testing/http/api.ts';
import type { Caller } from '../testing/people.ts';
import { startReplica } from '../testing/replica.ts';

/** A next version: it only adds, so that the previous program can go on. */
const EXPAND = `-- min_compatible_version: 1
alter table findings add column next_state text;
alter table members add column locale text not null default 'en';
alter table work_items add column estimate integer;
create index members_by_locale on members (org_id, locale);
create table next_notes (org_id uuid not null references organizations (id), id uuid not null, text text not null, primary key (org_id, id));
select make_tenant_table('next_notes', 'select, insert, update, delete');
`;
/** The version after it removes what only the previous programs used. */
const CONTRACT = `-- min_compatible_version: 2
alter table work_items drop column estimate;
`;

let api: TestApi;
const folders: string[] = [];

beforeAll(async () => {
  api = await startApi();
});
afterAll(async () => {
  await api?.close();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

/** The migrations of this program and further ones, as a later program has them. */
async function migrationsWith(...further: string[]): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'rrs-migrations-'));
  folders.push(folder);
  const known = await readMigrations();
  for (const { name } of known) await copyFile(new URL(`../../migrations/${name}`, import.meta.url), join(folder, name));
  const first = (known.at(-1)?.version ?? 0) + 1;
  for (const [index, sql] of further.entries()) await writeFile(join(folder, `${String(first + index).padStart(4, '0')}-next.sql`), sql);
  return pathToFileURL(`${folder}/`);
}

/** Adds findings, work items and members and changes the organization until told to stop. Returns what was not accepted. */
function keepWriting(program: Caller, name: string) {
  const progress = { rounds: 0, stopped: false, refused: [] as string[] };
  const send = async (method: string, path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await program.call(method, `/api/v1${path}`, { as: api.ours.owner, body });
    if (answer.status >= 300) progress.refused.push(`${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as Record<string, unknown>;
  };
  const write = async (): Promise<void> => {
    while (!progress.stopped) {
      const n = `${name} ${progress.rounds}`;
      const finding = await send('POST', '/findings', { title: n, severity: 'high', asset: { type: 'host', name: `${name}.example` } });
      await send('PATCH', `/findings/${finding.id}`, { status: 'in_progress' });
      await send('POST', '/work-items', { title: n, finding_ids: [finding.id] });
      await send('POST', '/members', { email: `${n.replaceAll(' ', '-')}@example.com`, name: n, role: 'viewer' });
      await send('PATCH', '/organization', { name: n });
      progress.rounds++;
    }
  };
  const done = write();
  return {
    /** Waits until that many more rounds were written. */
    async rounds(count: number): Promise<void> {
      const target = progress.rounds + count;
      await expect.poll(() => progress.rounds, { timeout: 25_000 }).toBeGreaterThanOrEqual(target);
    },
    async stop(): Promise<string[]> {
      progress.stopped = true;
      await done;
      return progress.refused;
    },
  };
}

const readyOf = async (program: { url: string }) => (await (await fetch(`${program.url}/readyz`)).json()) as { checks: { migrations: string } };

describe('an upgrade', () => {
  it('changes the schema under writes of the previous program, which goes on next to the new one and can be started again', async () => {
    const previous = [keepWriting(api, 'previous'), keepWriting(api, 'also-previous')];
    await previous[0]?.rounds(2);
    const next = await migrationsWith(EXPAND);
    expect(await migrate(api.databaseUrl, { folder: next })).toEqual({ applied: 2, known: 2 });

    const replica = await startReplica(api.databaseUrl);
    onTestFinished(() => replica.close());
    const writers = [...previous, keepWriting(replica, 'next')];
    for (const writer of writers) await writer.rounds(3);
    for (const writer of writers) expect(await writer.stop()).toEqual([]);
    expect(await readyOf(api)).toMatchObject({ checks: { migrations: 'ok' } });

    // Rolling back: the previous program starts again and leaves the schema and the queue as they are.
    expect(await migrate(api.databaseUrl)).toEqual({ applied: 2, known: 1 });
    const rolledBack = await startReplica(api.databaseUrl);
    onTestFinished(() => rolledBack.close());
    const again = keepWriting(rolledBack, 'rolled-back');
    await again.rounds(2);
    expect(await again.stop()).toEqual([]);
    expect(await migrate(api.databaseUrl, { folder: next })).toEqual({ applied: 2, known: 2 });
    await withClient(api.databaseUrl, async (client) => {
      const { rows } = await client.query(`select count(*)::int as members, count(*) filter (where locale = 'en')::int as with_locale from rrs.members`);
      expect(rows[0].members).toBeGreaterThan(5);
      expect(rows[0].with_locale).toBe(rows[0].members);
    });
  });

  it('that removes something is refused by the program before, which is no longer ready', async () => {
    const later = await migrationsWith(EXPAND, CONTRACT);
    expect(await migrate(api.databaseUrl, { folder: later })).toEqual({ applied: 3, known: 3 });
    const refusal = await migrate(api.databaseUrl).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(OperatorError);
    expect((refusal as OperatorError).message).toMatch(
      /schema version 3, which programs can use from version 2 on\. This program supports only up to 1\. Start a newer/,
    );
    expect(await readyOf(api)).toMatchObject({ checks: { migrations: 'incompatible' } });
    const between = await migrationsWith(EXPAND);
    expect(await migrate(api.databaseUrl, { folder: between })).toEqual({ applied: 3, known: 2 });
  });

  it('waits for a lock only briefly, so that requests do not wait behind it', async () => {
    const own = await startApi();
    onTestFinished(() => own.close());
    const further = await migrationsWith(EXPAND);
    await withClient(own.databaseUrl, async (blocker) => {
      await blocker.query('begin; lock table rrs.members in row exclusive mode');
      const migrating = migrate(own.databaseUrl, { folder: further });
      const waiting = `select count(*)::int as waiting from pg_stat_activity where application_name = 'rrs_migrate' and wait_event_type = 'Lock' and datname = current_database()`;
      await withClient(own.databaseUrl, (watcher) => expect.poll(async () => (await watcher.query(waiting)).rows[0].waiting).toBe(1));
      const answer = await own.call('POST', '/api/v1/members', { as: own.ours.owner, body: { email: 'a@example.com', name: 'A', role: 'viewer' } });
      expect(answer.status).toBe(201);
      await blocker.query('rollback');
      expect(await migrating).toEqual({ applied: 2, known: 2 });
    });
  });

  it('needs a declaration in every migration', async () => {
    await expect(readMigrations(await migrationsWith('alter table members add column x text'))).rejects.toThrow('min_compatible_version');
  });
});
