import { join } from 'node:path';
import type pg from 'pg';
import { seedFindings } from '../../../service/src/testing/findings/seed-findings.ts';
import { importReport } from '../imports.ts';
import { writeReport } from '../reports.ts';
import type { Result } from '../results.ts';
import { median, withService } from '../session.ts';
import { oneFilter, sample } from './queries.ts';
import { apiOf, PAGE, percentile, timesOf, timesOfEach } from './times.ts';

export interface Sizes {
  /** How many findings the organization has, in ascending order. */
  findings: readonly number[];
  /** How many findings a report has that is imported at each size. */
  imported: number;
  /** Measures every nth query with a filter, and how often. The median of the tries counts. */
  every: number;
  tries: number;
}

interface Measured {
  page: number;
  filtered: number;
  created: number;
  again: number;
}

const WHAT: Readonly<Record<keyof Measured, string>> = {
  page: 'the first page, p50',
  filtered: 'one filter in any order, p95 over all',
  created: 'import of a new finding',
  again: 'import of an unchanged finding',
};
const BAR = 1.5;

/** GROWTH: what a page and an imported finding cost while an organization grows, compared with its first size. */
export function growth({ findings, imported, every, tries }: Sizes): Promise<Result[]> {
  return withService(async (session) => {
    const { admin, folder } = session;
    const { rows } = await admin.query('select id from organizations');
    const measured: Measured[] = [];
    for (const [n, to] of findings.entries()) {
      await withoutIndexes(admin, () => seedFindings(admin, rows[0].id, { from: (findings[n - 1] ?? 0) + 1, to }));
      await admin.query('vacuum analyze');
      const file = join(folder, 'growth.ndjson');
      await writeReport(file, { findings: imported, fleet: `growth-${n}`, sentences: 4 });
      const created = (await importReport(session, file, { created: imported })) / imported;
      await admin.query('vacuum analyze findings, sightings');
      const again = (await importReport(session, file, { unchanged: imported })) / imported;
      const page = median(await timesOf(apiOf(session), PAGE, 60));
      const filtered = percentile(await timesOfEach(apiOf(session), sample(oneFilter(), every), tries), 0.95);
      measured.push({ page, filtered, created, again });
    }
    return (Object.keys(WHAT) as (keyof Measured)[]).map((name) => resultOf(name, findings, measured));
  });
}

/** Millions of rows enter a table without indexes in a tenth of the time. The indexes are built again from all rows. */
async function withoutIndexes(admin: pg.Client, add: () => Promise<void>): Promise<void> {
  const { rows } = await admin.query<{ name: string; definition: string }>(`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i where i.indrelid = 'findings'::regclass and not i.indisunique`);
  for (const { name } of rows) await admin.query(`drop index ${name}`);
  await add();
  await admin.query(`set maintenance_work_mem = '1GB'`);
  for (const { definition } of rows) await admin.query(definition);
}

function resultOf(name: keyof Measured, sizes: readonly number[], measured: readonly Measured[]): Result {
  const first = measured[0]?.[name] ?? Number.NaN;
  const ratio = Math.max(...measured.map((at) => at[name])) / first;
  const figure = measured
    .map((at, n) => `${at[name].toFixed(name === 'page' || name === 'filtered' ? 1 : 3)} ms at ${sizes[n]?.toLocaleString('en')}`)
    .join(', ');
  return { id: 'GROWTH', what: WHAT[name], figure: `${ratio.toFixed(2)} × (${figure})`, bar: `≤ ${BAR} ×`, met: ratio <= BAR };
}
