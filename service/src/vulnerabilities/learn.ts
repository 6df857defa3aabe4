import type { Knowledge } from '@rrs/connectors';
import { vulnerabilityIds } from '@rrs/scan-reports/normalize.ts';
import { sql } from 'kysely';
import type { SystemTx } from '../db/database.ts';
import { bestRating } from './cvss.ts';

/** Stores what an enrichment source reports about vulnerabilities. Fields that it does not report stay as they are. Returns how many vulnerabilities changed. */
export async function learn(tx: SystemTx, items: readonly Knowledge[]): Promise<number> {
  const rows = [...mergeById(items)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, item]) => rowOf(id, item));
  if (rows.length === 0) return 0;
  const { rows: changed } = await sql<{ changed: number }>`
    with reported as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as s (
        id text, aliases text[], cwes integer[], cvss_version text, cvss_vector text, cvss_score real, epss real, epss_percentile real, epss_date text,
        kev boolean, kev_due_date text, kev_version text, ssvc jsonb, exploit_public boolean)
    ), stored as (
      insert into vulnerabilities as v (id, aliases, cwes, cvss_version, cvss_vector, cvss_score, epss, epss_percentile, epss_date, kev, kev_due_date, kev_version, ssvc, exploit_public)
      select id, coalesce(aliases, '{}'), coalesce(cwes, '{}'), cvss_version, cvss_vector, cvss_score, epss, epss_percentile, epss_date, coalesce(kev, false), kev_due_date, kev_version, ssvc,
        coalesce(exploit_public, false)
      from reported order by id
      on conflict (id) do update set
        aliases = (select coalesce(array_agg(distinct alias order by alias), '{}') from unnest(v.aliases || excluded.aliases) alias),
        cwes = (select coalesce(array_agg(distinct cwe order by cwe), '{}') from unnest(v.cwes || excluded.cwes) cwe),
        cvss_version = coalesce(excluded.cvss_version, v.cvss_version), cvss_vector = coalesce(excluded.cvss_vector, v.cvss_vector),
        cvss_score = coalesce(excluded.cvss_score, v.cvss_score),
        epss = coalesce(excluded.epss, v.epss), epss_percentile = coalesce(excluded.epss_percentile, v.epss_percentile), epss_date = coalesce(excluded.epss_date, v.epss_date),
        kev = case when excluded.kev_version is null then v.kev else excluded.kev end,
        kev_due_date = case when excluded.kev_version is null then v.kev_due_date else excluded.kev_due_date end,
        kev_version = coalesce(excluded.kev_version, v.kev_version), ssvc = coalesce(excluded.ssvc, v.ssvc), exploit_public = v.exploit_public or excluded.exploit_public, updated_at = now()
      where (v.aliases, v.cwes, v.cvss_vector, v.cvss_score, v.epss, v.epss_percentile, v.epss_date, v.kev, v.kev_due_date, v.kev_version, v.ssvc, v.exploit_public) is distinct from
        ((select coalesce(array_agg(distinct alias order by alias), '{}') from unnest(v.aliases || excluded.aliases) alias),
         (select coalesce(array_agg(distinct cwe order by cwe), '{}') from unnest(v.cwes || excluded.cwes) cwe),
         coalesce(excluded.cvss_vector, v.cvss_vector), coalesce(excluded.cvss_score, v.cvss_score), coalesce(excluded.epss, v.epss),
         coalesce(excluded.epss_percentile, v.epss_percentile), coalesce(excluded.epss_date, v.epss_date),
         case when excluded.kev_version is null then v.kev else excluded.kev end, case when excluded.kev_version is null then v.kev_due_date else excluded.kev_due_date end,
         coalesce(excluded.kev_version, v.kev_version), coalesce(excluded.ssvc, v.ssvc), v.exploit_public or excluded.exploit_public)
      returning 1
    )
    select count(*)::int as changed from stored`.execute(tx);
  return changed[0]?.changed ?? 0;
}

/** The EPSS score of a CVE. */
export interface Score {
  id: string;
  score: number;
  percentile: number;
  date: string;
}

/** Stores scores, with few parameters for many rows. Returns how many vulnerabilities changed, also if only the date did. */
export async function learnScores(tx: SystemTx, scores: readonly Score[]): Promise<number> {
  const column = <Name extends keyof Score>(name: Name): Score[Name][] => scores.map((score) => score[name]);
  const { rows } = await sql<{ changed: number }>`
    with reported as (
      select distinct on (id) * from unnest(${column('id')}::text[], ${column('score')}::real[], ${column('percentile')}::real[], ${column('date')}::text[]) as s (id, epss, percentile, date)
      order by id
    ), stored as (
      insert into vulnerabilities as v (id, epss, epss_percentile, epss_date) select id, epss, percentile, date from reported
      on conflict (id) do update set epss = excluded.epss, epss_percentile = excluded.epss_percentile, epss_date = excluded.epss_date, updated_at = now()
      where (v.epss, v.epss_percentile, v.epss_date) is distinct from (excluded.epss, excluded.epss_percentile, excluded.epss_date)
      returning 1
    )
    select count(*)::int as changed from stored`.execute(tx);
  return rows[0]?.changed ?? 0;
}

/** Groups the items by normalized id. Items with the same id are merged. */
function mergeById(items: readonly Knowledge[]): Map<string, Knowledge> {
  const byId = new Map<string, Knowledge>();
  const both = <T>(a: readonly T[] | undefined, b: readonly T[] | undefined): T[] => [...(a ?? []), ...(b ?? [])];
  for (const item of items) {
    const [id] = vulnerabilityIds(item.id);
    if (id === undefined) continue;
    const known = byId.get(id);
    byId.set(id, { ...known, ...item, aliases: both(known?.aliases, item.aliases), cwes: both(known?.cwes, item.cwes), cvss: both(known?.cvss, item.cvss) });
  }
  return byId;
}

function rowOf(id: string, { aliases, cwes, cvss, epss, kev, exploitPublic, ssvc }: Knowledge) {
  const best = bestRating((cvss ?? []).map(({ vector, score }) => ({ vector, ...(score === undefined ? {} : { score }) })));
  return {
    id,
    aliases: aliases ?? null,
    cwes: cwes ?? null,
    cvss_version: best?.version ?? null,
    cvss_vector: best?.vector ?? null,
    cvss_score: best?.score ?? null,
    epss: epss?.score ?? null,
    epss_percentile: epss?.percentile ?? null,
    epss_date: epss?.date ?? null,
    kev: kev?.listed ?? null,
    kev_due_date: kev?.dueDate ?? null,
    kev_version: kev?.version ?? null,
    ssvc: ssvc ?? null,
    exploit_public: exploitPublic ?? null,
  };
}

/** Call it after the whole KEV catalogue was read. Marks vulnerabilities that are no longer in it as unlisted. */
export async function unlistOthers(tx: SystemTx, version: string): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('vulnerabilities')
    .set({ kev: false, kev_due_date: null, kev_version: version, updated_at: sql<Date>`now()` })
    .where('kev', '=', true)
    .where('kev_version', '<>', version)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
