import { type Standing, standingFacts, standingOf } from '@rrs/evidence-format';
import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { readWithCursor } from '../../db/read-with-cursor.ts';
import { evidenceFindings } from '../../findings/facts/finding-facts.ts';
import { readScans } from '../../findings/facts/scan-facts.ts';
import { readSourcesOnAssets } from '../../findings/facts/scope-facts.ts';
import { isSelfDescribed, readLabels, relabelledScans } from './relabelled.ts';
import { readDeletions } from './removed-sources.ts';
import { type StandingInputs, standingInputs } from './standing-inputs.ts';

interface Linked extends StandingInputs {
  id: string;
}

/** The standing of a finding on a work item. */
export interface JudgedFinding {
  id: string;
  standing: Standing;
}

/** The standings of all findings of work items, as the evidence packages of these work items would state them. */
export async function readStandings(tx: TenantTx, orgId: string, itemIds: readonly string[]): Promise<ReadonlyMap<string, JudgedFinding[]>> {
  if (itemIds.length === 0) return new Map();
  const { rows: links } = await sql<{ item: string; finding: string }>`
    select l.work_item_id as item, l.finding_id as finding from work_item_findings l
    where l.org_id = ${orgId} and l.work_item_id = any(${itemIds as string[]}::uuid[]) and l.unlinked_at is null`.execute(tx);
  const ids = sql`select distinct linked.id from unnest(${links.map(({ finding }) => finding)}::uuid[]) as linked (id)`;
  const findings = new Map<string, Linked>();
  for await (const row of readWithCursor(tx, evidenceFindings(orgId, ids))) findings.set(row.id, { id: row.id, ...standingInputs(row) });
  const judge = await readJudge(tx, orgId, [...findings.values()]);
  const items = Map.groupBy(links, ({ item }) => item);
  return new Map([...items].map(([item, own]) => [item, judge(own.flatMap(({ finding }) => findings.get(finding) ?? []))]));
}

/** Reads the scans and sources of all findings at once. What a scan proves depends on the other findings of the same work item. */
async function readJudge(tx: TenantTx, orgId: string, findings: readonly Linked[]): Promise<(own: readonly Linked[]) => JudgedFinding[]> {
  const assetIds = assetsOf(findings);
  const scans = await readScans(tx, orgId, { ids: scansOf(findings), assetIds });
  const labels = await readLabels(tx, orgId, scans, assetIds);
  const sources = await readRemovals(tx, orgId, assetIds);
  const order = new Map(scans.map((scan, n) => [scan.id, { n, scan }]));
  return (own) => {
    const shown = scansOf(own)
      .flatMap((id) => order.get(id) ?? [])
      .sort((one, other) => one.n - other.n)
      .map(({ scan }) => scan);
    const seenIn = new Set(own.flatMap(({ before }) => before.scan ?? []));
    const relabelled = relabelledScans(shown, labels, { assetIds: assetsOf(own), seenIn });
    const facts = standingFacts({
      sources,
      scans: shown.map((scan) => ({ id: scan.id, copy_of: scan.copy_of, self_described: isSelfDescribed(scan) || relabelled.has(scan.id) })),
    });
    return own.map((finding) => ({ id: finding.id, standing: standingOf(finding, facts) }));
  };
}

function assetsOf(findings: readonly Linked[]): string[] {
  return [...new Set(findings.map(({ asset }) => asset.id))];
}

function scansOf(findings: readonly Linked[]): string[] {
  return [...new Set(findings.flatMap(({ before, after }) => [before.scan, after.scan, ...after.others].filter((scan) => scan !== null)))];
}

async function readRemovals(tx: TenantTx, orgId: string, assetIds: readonly string[]) {
  const rows = await readSourcesOnAssets(tx, orgId, assetIds);
  const deletedAt = await readDeletions(tx, orgId, rows);
  return rows.map(({ asset_id, source, connection_id, retired_at }) => {
    const removedAt = deletedAt.get(connection_id ?? '') ?? retired_at;
    return { asset_id, source, removed_at: removedAt?.toISOString() ?? null };
  });
}
