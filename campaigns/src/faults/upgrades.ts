import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { migrate } from '../../../service/src/db/migrate.ts';
import type { Ledger } from './ledger.ts';

const MIGRATIONS = new URL('../../../service/migrations/', import.meta.url);

/** Later versions of the schema, one for each upgrade. Each only adds, so that the program of this version goes on. */
export function upgrades(dataDir: string, ledger: Ledger) {
  const folder = join(dataDir, '..', 'migrations');
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(MIGRATIONS)) copyFileSync(fileURLToPath(new URL(name, MIGRATIONS)), join(folder, name));
  let version = readdirSync(folder).length;
  const url = (): string => readFileSync(join(dataDir, 'postgres.url'), 'utf8').trim();
  return {
    /** The process id of a migration that runs. */
    current: null as number | null,
    /** Adds a migration and applies it in a process of its own. */
    async start(): Promise<void> {
      const next = ++version;
      writeFileSync(join(folder, `${String(next).padStart(4, '0')}-next.sql`), migrationOf(next));
      const child = spawn(process.execPath, [fileURLToPath(import.meta.url), url(), pathToFileURL(`${folder}/`).href], { stdio: 'ignore' });
      this.current = child.pid ?? null;
      const code = await new Promise((resolve) => child.once('exit', resolve));
      this.current = null;
      if (code === 0) ledger.schema = Math.max(ledger.schema, next);
    },
    /** Applies what is missing. */
    async finish(): Promise<void> {
      const { applied } = await migrate(url(), { folder: pathToFileURL(`${folder}/`) });
      ledger.schema = Math.max(ledger.schema, applied);
    },
    /** The column of a version exists exactly if the version is recorded. */
    columnOf: (n: number): string => `next_${n}`,
    first: version + 1,
    last: (): number => version,
  };
}

/** Several statements, one of which rewrites rows, so that there are moments between them. */
function migrationOf(n: number): string {
  return `-- min_compatible_version: 1
alter table members add column next_${n} text;
alter table work_items add column next_${n} text;
update work_items set next_${n} = title;
create table next_notes_${n} (org_id uuid not null references organizations (id), id uuid not null, text text not null, primary key (org_id, id));
select make_tenant_table('next_notes_${n}', 'select, insert, update, delete');
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , url = '', folder = ''] = process.argv;
  await migrate(url, { folder: new URL(folder) });
}
