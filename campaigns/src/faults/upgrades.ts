import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { migrate } from '../../../service/src/db/migrate.ts';
import { compileCache } from '../compile-cache.ts';
import type { Ledger } from './ledger.ts';

const MIGRATIONS = new URL('../../../service/migrations/', import.meta.url);

/** So many versions keep what they added. Otherwise every row would have hundreds of columns in the end, and each kill would take longer than the one before. */
const KEPT = 5;

/** Later versions of the schema, one for each upgrade. The program of this version uses nothing that they add or remove, so it goes on. */
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
      const env = { ...process.env, NODE_COMPILE_CACHE: compileCache };
      const child = spawn(process.execPath, [fileURLToPath(import.meta.url), url(), pathToFileURL(`${folder}/`).href], { env, stdio: 'ignore' });
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
    /** The columns of a version exist exactly if the version is recorded and is one of the last. */
    columnsOf: (n: number, applied: number): { name: string; count: number } => ({ name: `next_${n}`, count: n <= applied && n > applied - KEPT ? 2 : 0 }),
    first: version + 1,
    last: (): number => version,
  };
}

/** Several statements, one of which rewrites rows, so that there are moments between them. */
function migrationOf(n: number): string {
  const old = Math.max(0, n - KEPT);
  return `-- min_compatible_version: 1
alter table members add column next_${n} text;
alter table work_items add column next_${n} text;
update work_items set next_${n} = title;
create table next_notes_${n} (org_id uuid not null references organizations (id), id uuid not null, text text not null, primary key (org_id, id));
select make_tenant_table('next_notes_${n}', 'select, insert, update, delete');
alter table members drop column if exists next_${old};
alter table work_items drop column if exists next_${old};
drop table if exists next_notes_${old};
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , url = '', folder = ''] = process.argv;
  await migrate(url, { folder: new URL(folder) });
}
