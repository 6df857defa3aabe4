import type { Asset, AssetType, Location, Observation, Severity } from '@rrs/scan-reports';
import { sql } from 'kysely';
import { recordAudit } from '../audit/record.ts';
import type { TenantTx } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import type { Actor } from '../shared/actor.ts';
import { AppError, notFound } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { resolveRows } from './import-resolve.ts';
import { takeTurn } from './import-turn.ts';
import { type FindingRow, readFinding } from './list.ts';
import { readPolicy } from './policy.ts';
import { sourceOf } from './sources.ts';
import { type CopyValue, STAGED_ASSET_COLUMNS, STAGED_COLUMNS, stagedAsset, stagedRow } from './staging.ts';

export interface NewFinding {
  title: string;
  severity: Severity;
  asset?: { type: AssetType; name: string };
  asset_id?: string;
  description?: string;
  solution?: string;
  cves?: string[];
  cwes?: number[];
  cvss?: { vector: string };
  location?: Location;
  references?: string[];
  tags?: string[];
  first_seen?: string;
}

/** What a person found goes the same way as what a scanner found: one row through the import engine. */
export async function createFinding(tx: TenantTx, actor: Actor, input: NewFinding): Promise<FindingRow> {
  const { orgId } = actor;
  await takeTurn(tx, orgId);
  const importId = newId();
  const asset = await assetFor(tx, orgId, input);
  const context = { orgId, importId, defaultAsset: asset };
  const { key, values } = stagedAsset(context, asset);
  await insertStaged(tx, 'import_assets', STAGED_ASSET_COLUMNS, values);
  await insertStaged(
    tx,
    'import_rows',
    STAGED_COLUMNS,
    stagedRow(context, { n: 1, observation: observationOf(input, importId), assetKey: key, assetName: asset.name }),
  );
  const sourceId = await sourceOf(tx, orgId, { kind: 'manual', provider: 'manual', name: '' });
  const { sla } = await readPolicy(tx, orgId);
  const { created } = await resolveRows(tx, { orgId, importId, sourceId, seenAt: new Date(), sla, actor });
  const { rows } = await sql<{ finding_id: string }>`select finding_id from import_groups where org_id = ${orgId} and import_id = ${importId}`.execute(tx);
  const id = rows[0]?.finding_id ?? '';
  if (created === 0) throw new AppError('conflict', `This weakness is already known at this place of the asset, as finding "${id}".`);
  for (const table of ['import_rows', 'import_assets', 'import_groups'] as const)
    await tx.deleteFrom(table).where('org_id', '=', orgId).where('import_id', '=', importId).execute();
  const finding = await readFinding(tx, orgId, id);
  const after = { title: finding.title, severity: input.severity, asset: asset.name };
  await recordAudit(tx, actor, { action: 'finding.created', objectType: 'finding', objectId: id, after });
  await emit(tx, orgId, { type: 'finding.created', subject: id, data: after });
  return finding;
}

async function assetFor(tx: TenantTx, orgId: string, { asset, asset_id }: NewFinding): Promise<Asset> {
  if (asset_id === undefined) return asset ?? { type: 'other', name: 'unspecified' };
  const known = await tx.selectFrom('assets').select(['type', 'name']).where('org_id', '=', orgId).where('id', '=', asset_id).executeTakeFirst();
  if (!known) throw notFound('asset', asset_id);
  return known;
}

function observationOf(input: NewFinding, importId: string): Observation {
  return {
    place: 'manual',
    tool: 'manual',
    // A weakness without a public id is one of its own: two people's words for it are no identity.
    rule: input.cves && input.cves.length > 0 ? null : importId,
    external_id: null,
    title: input.title,
    description: input.description ?? null,
    solution: input.solution ?? null,
    severity: input.severity,
    tool_severity: null,
    vulnerability_ids: [...new Set((input.cves ?? []).map((id) => id.toUpperCase()))].sort(),
    cwes: [...new Set(input.cwes ?? [])],
    cvss: input.cvss ? [input.cvss] : [],
    references: input.references ?? [],
    asset: null,
    location: input.location ?? {},
    present: true,
    suppressed: false,
    first_seen: input.first_seen ? new Date(input.first_seen) : null,
    last_seen: null,
    tags: input.tags ?? [],
  };
}

async function insertStaged(tx: TenantTx, table: string, columns: readonly string[], values: readonly CopyValue[]): Promise<void> {
  const parameters = values.map((value) =>
    value !== null && typeof value === 'object' && !Array.isArray(value) && !Buffer.isBuffer(value) && !(value instanceof Date) ? JSON.stringify(value) : value,
  );
  await sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))}) values (${sql.join(parameters)})`.execute(tx);
}
