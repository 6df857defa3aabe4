import { join } from 'node:path';
import { seedFindings } from '../../../service/src/testing/findings/seed-findings.ts';
import { importReport } from '../imports.ts';
import { writeReport } from '../reports.ts';
import type { Result } from '../results.ts';
import { median, type Session, withService } from '../session.ts';
import { oneFilter } from './queries.ts';
import { apiOf, percentile, timeOf, timesOf } from './times.ts';

export interface Sizes {
  /** How many findings the organization has, in ascending order. */
  findings: readonly number[];
  /** How many findings a report has that is imported at each size. */
  imported: number;
  /** Measures every nth filter. */
  every: number;
}

interface Measured {
  page: number;
  filtered: number;
  created: number;
  again: number;
}

const WHAT: Readonly<Record<keyof Measured, string>> = {
  page: 'the first page, p50',
  filtered: 'one filter, p95',
  created: 'import of a new finding',
  again: 'import of an unchanged finding',
};
const BAR = 1.5;

/** GROWTH: what a page and an imported finding cost while an organization grows, compared with its first size. */
export function growth({ findings, imported, every }: Sizes): Promise<Result[]> {
  return withService(async (session) => {
    const { admin, folder } = session;
    const { rows } = await admin.query('select id from organizations');
    const measured: Measured[] = [];
    for (const [n, to] of findings.entries()) {
      await seedFindings(admin, rows[0].id, { from: (findings[n - 1] ?? 0) + 1, to });
      await admin.query('vacuum analyze');
      const file = join(folder, 'growth.ndjson');
      await writeReport(file, { findings: imported, fleet: `growth-${n}`, sentences: 4 });
      const created = (await importReport(session, file, { created: imported })) / imported;
      await admin.query('vacuum analyze findings, sightings');
      const again = (await importReport(session, file, { unchanged: imported })) / imported;
      measured.push({ page: median(await timesOf(apiOf(session), '/findings?limit=50', 60)), filtered: await filtered(session, every), created, again });
    }
    return (Object.keys(WHAT) as (keyof Measured)[]).map((name) => resultOf(name, findings, measured));
  });
}

async function filtered(session: Session, every: number): Promise<number> {
  const times = [];
  for (const query of oneFilter().filter((_, n) => n % every === 0)) times.push({ ms: await timeOf(apiOf(session), `/findings?limit=50&${query}`) });
  return percentile(times, 0.95);
}

function resultOf(name: keyof Measured, sizes: readonly number[], measured: readonly Measured[]): Result {
  const first = measured[0]?.[name] ?? Number.NaN;
  const ratio = Math.max(...measured.map((at) => at[name])) / first;
  const figure = measured
    .map((at, n) => `${at[name].toFixed(name === 'page' || name === 'filtered' ? 1 : 3)} ms at ${sizes[n]?.toLocaleString('en')}`)
    .join(', ');
  return { id: 'GROWTH', what: WHAT[name], figure: `${ratio.toFixed(2)} × (${figure})`, bar: `≤ ${BAR} ×`, met: ratio <= BAR };
}
