import type { Asset, Observation } from '@rrs/scan-reports';
import { observation } from '@rrs/scan-reports/normalize.ts';
import { sql } from 'kysely';
import type { Static } from 'typebox';
import { readAsset } from '../../assets/assets.ts';
import { type DescribedAsset, describeAsset } from '../../assets/recognize/describe.ts';
import { sharedName } from '../../assets/recognize/find-stated.ts';
import { resolveAssets } from '../../assets/recognize/resolve.ts';
import { describeRun } from '../../assets/recognize/resolve-tracks.ts';
import { recordAudit } from '../../audit/record.ts';
import { Hex } from '../../db/copy.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { FindingRow } from '../fields/field.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { adoptIdentities } from '../identity-changes/adopt-identities.ts';
import { followAsset } from '../identity-changes/follow-asset.ts';
import { takeImportLock } from '../import-lock.ts';
import { readFinding } from '../list/list.ts';
import { deleteStaged } from '../merge/delete-staged.ts';
import { resolveRecords } from '../merge/resolve.ts';
import { sourceOf } from '../merge/sources.ts';
import {
  importAssets,
  importRows,
  importTexts,
  reportRecord,
  type StagingContext,
  type StagingTable,
  stagedAsset,
  stagedRecord,
  stagedText,
} from '../merge/staging.ts';
import type { FindingCreate } from '../schemas.ts';

export type NewFinding = Static<typeof FindingCreate>;

/** Passes the finding through the import engine as one staged record, so that it is matched and scored like a reported one. */
export async function createFinding(tx: TenantTx, actor: Actor, input: NewFinding, follower: FindingFollower): Promise<FindingRow> {
  const { orgId } = actor;
  if (input.work_item_id !== undefined) await follower.assertOpen(tx, orgId, input.work_item_id);
  await takeImportLock(tx, orgId);
  const importId = newId();
  const asset = await assetFor(tx, orgId, input);
  await stageFinding(tx, { orgId, importId, origin: 'manual' }, observationOf(input, importId), describeAsset(asset));
  const now = new Date();
  await describeRun(tx, { orgId, importId }, { startedAt: now, endedAt: now, credentialed: null, knowledgeAt: null, doubt: null, variant: null }, new Map());
  const { id: sourceId } = await sourceOf(tx, orgId, { kind: 'manual', provider: 'manual', tool: '', name: '', path: '' });
  const { sla, source_ranking } = await readPolicy(tx, orgId);
  const resolution = {
    orgId,
    importId,
    sourceId,
    listedAt: null,
    provider: 'manual',
    sourceWords: ['p:manual'],
    provesFixed: false,
    sla,
    ranking: source_ranking,
    actor,
    files: null,
    restrictions: [],
    size: null,
    staged: { rows: 1, seen: 0 },
  };
  const [shared] = await resolveAssets(tx, actor, importId, followAsset(follower));
  if (shared) throw new AppError('unprocessable', `${sharedName(shared)} State the one that you mean in \`asset_id\`.`);
  const merged = await adoptIdentities(tx, resolution);
  const { groups } = await resolveRecords(tx, resolution, null);
  const { rows } = await sql<{ finding_id: string }>`select finding_id from tenant_import_groups where org_id = ${orgId} and import_id = ${importId}`.execute(
    tx,
  );
  const id = rows[0]?.finding_id ?? '';
  if (groups.created === 0) throw new AppError('conflict', `The weakness is already known at this location of the asset, as finding "${id}".`);
  await deleteStaged(tx, orgId, importId);
  const finding = await readFinding(tx, orgId, id);
  const after = { title: finding.title, severity: input.severity, asset: asset.name };
  await recordAudit(tx, actor, { action: 'finding.created', objectType: 'finding', objectId: id, after });
  await emit(tx, orgId, { type: 'finding.created', subject: id, data: after });
  if (input.work_item_id !== undefined) await follower.link(tx, actor, input.work_item_id, [id]);
  await follower.moveLinks(tx, actor, merged);
  if (merged.length > 0) await follower.follow(tx, actor, idsSql(merged.flatMap(({ from_id, into_id }) => [from_id, into_id])));
  return finding;
}

async function assetFor(tx: TenantTx, orgId: string, { asset, asset_id }: NewFinding): Promise<Asset> {
  if (asset_id === undefined) return asset ? { ...asset, stated: {} } : { type: 'other', name: 'unspecified' };
  let known = await readAsset(tx, orgId, asset_id);
  while (known.merged_into !== null) known = await readAsset(tx, orgId, known.merged_into);
  const { id, type, name } = known;
  return { type, name, stated: { id } };
}

function observationOf(input: NewFinding, importId: string): Observation {
  const { title, severity, description, solution, cves = [], cwes, cvss, references, location = {}, tags, first_seen } = input;
  return observation({
    place: 'manual',
    tool: 'manual',
    // Without a public id, each manual finding is its own weakness: titles that people write do not identify one.
    rule: cves.length > 0 ? null : importId,
    title,
    severity,
    description,
    solution,
    vulnerability_ids: cves,
    cwes,
    cvss: cvss ? [cvss] : [],
    references,
    location,
    tags,
    first_seen: first_seen === undefined ? null : new Date(first_seen),
  });
}

async function stageFinding(tx: TenantTx, context: StagingContext, observed: Observation, asset: DescribedAsset): Promise<void> {
  const record = stagedRecord(context, reportRecord(context, 1, observed, asset));
  const text = stagedText(record);
  await insertStaged(tx, importAssets, stagedAsset(context, asset));
  if (text) await insertStaged(tx, importTexts, text);
  await insertStaged(tx, importRows, record);
}

async function insertStaged<Staged>(tx: TenantTx, { name, columns, values }: StagingTable<Staged>, staged: Staged): Promise<void> {
  const parameters = values(staged).map((value) => {
    if (value instanceof Hex) return Buffer.from(value.text, 'hex');
    return value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date) ? JSON.stringify(value) : value;
  });
  await sql`insert into ${sql.table(`tenant_${name}`)} (${sql.join(columns.map((column) => sql.ref(column)))}) values (${sql.join(parameters)})`.execute(tx);
}
