import type { FindingFacts } from '@rrs/evidence-format';
import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { readWithCursor } from '../../db/read-with-cursor.ts';
import { evidenceFindings } from '../../findings/facts/finding-facts.ts';
import { readImportsAbout } from '../../findings/facts/scan-facts.ts';
import { readSourcesOnAssets } from '../../findings/facts/scope-facts.ts';
import { readOwnerlessKeys } from '../../organizations/members/person-facts.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { organizationNames } from '../../organizations/relations.ts';
import type { Actor } from '../../shared/actor.ts';
import { readApprovedStates } from '../../work-items/approvals/state.ts';
import { readApprovals, readItem } from '../../work-items/items/read.ts';
import { linkedFindingIds } from '../../work-items/relations.ts';
import { allArtifacts } from '../artifacts/artifacts.ts';
import { leavesOfPackage } from '../log/transparency-log.ts';
import type { PackageToBuild } from '../packages/packages.ts';
import { earliest } from './earliest.ts';
import { buildFindingFacts, type FindingContext } from './read/findings.ts';
import { readCreator, readEarlier, readExtent } from './read/item.ts';
import { readUnlinked, readWorkItemsEver } from './read/links.ts';
import { personNamer, readPeople } from './read/persons.ts';
import { readPolicies } from './read/policies.ts';
import { readScanFacts } from './read/scans.ts';
import { readAssets, readSources } from './read/scope.ts';
import { readActors, readTrailEvents, type TrailScope } from './read/trail-events.ts';
import { ticketLinks } from './tickets.ts';
import { buildTrail } from './trail.ts';

/** Everything that a package states, read in one transaction. There can be thousands of findings and events, so each row is reduced to what the package needs. */
export type Snapshot = Awaited<ReturnType<typeof readSnapshot>>;

/** What a transaction that reads a snapshot must begin with. */
export async function repeatableRead(tx: TenantTx): Promise<void> {
  await sql`set transaction isolation level repeatable read`.execute(tx);
}

/** Changes nothing. `asking` is somebody whose approval is considered. The transaction must have the isolation level `repeatable read`. */
export async function readSnapshot(tx: TenantTx, { org_id: orgId, id, work_item_id: itemId, sequence }: PackageToBuild, asking: Actor['person'] = null) {
  const { rows } = await sql<{
    as_of: Date;
    clock: Date;
    name: string;
  }>`select now() as as_of, clock_timestamp() as clock, name from ${organizationNames} o where id = ${orgId}`.execute(tx);
  const asOf = rows[0]?.as_of ?? new Date();
  const clockOffset = Math.abs(Date.now() - (rows[0]?.clock.getTime() ?? Date.now()));
  const item = await readItem(tx, orgId, itemId);
  const ownerless = await readOwnerlessKeys(tx, orgId);
  const toPerson = personNamer(ownerless.ids);
  const artifacts = [...(await allArtifacts(tx, orgId, itemId)), ...(await ticketLinks(tx, orgId, itemId))];
  const findings = await readFindings(tx, orgId, itemId, { toPerson, ownerlessKeys: ownerless.ids });
  const approvals = await readApprovals(tx, orgId, itemId);
  const extent = await readExtent(tx, orgId, itemId);
  const from = earliest(item.created_at, [extent.firstSeen, ...findings.map(({ first_seen }) => new Date(first_seen))]);
  const about = await readImportsAbout(tx, orgId, extent.assetIds, from);
  const sources = await readSourcesOnAssets(tx, orgId, extent.assetIds);
  const seenIn = new Set(findings.flatMap(({ before }) => before.scan ?? []));
  const scans = await readScanFacts(tx, orgId, { ids: scansToShow(findings, about), assetIds: extent.linkedAssetIds, seenIn }, toPerson);
  const trailScope: TrailScope = {
    orgId,
    itemId,
    assetIds: extent.assetIds,
    sourceIds: sources.map(({ source_id }) => source_id),
    connectionIds: [...sources.flatMap(({ connection_id }) => connection_id ?? []), ...scans.flatMap(({ delivery }) => delivery.connection?.id ?? [])],
    importIds: [...about, ...scans].map(({ id }) => id),
    from,
    ownerlessKeys: ownerless.ids,
  };
  const actors = await readActors(tx, trailScope);
  const linked = new Set(extent.linkedAssetIds);
  return {
    asOf,
    clockOffset,
    frameworks: (await readPolicy(tx, orgId)).frameworks,
    organization: { id: orgId, name: rows[0]?.name ?? '' },
    item,
    createdBy: toPerson((await readCreator(tx, orgId, itemId)) ?? { type: 'system', id: null, name: item.created_by_name, person: item.created_by }),
    toPerson,
    findings,
    artifacts,
    scans,
    assets: await readAssets(tx, orgId, extent.linkedAssetIds, linkedFindingIds(orgId, itemId)),
    sources: await readSources(
      tx,
      orgId,
      sources.filter(({ asset_id }) => linked.has(asset_id)),
      toPerson,
    ),
    approvals,
    approvedStates: await readApprovedStates(tx, orgId, itemId),
    unlinked: await readUnlinked(tx, orgId, itemId, toPerson),
    people: await readPeople(tx, orgId, asking ? new Map([...actors.persons, [asking.id, asking.name]]) : actors.persons),
    ownerlessKeys: ownerless.active,
    policies: await readPolicies(tx, orgId, from, toPerson),
    trail: await buildTrail(await readTrailEvents(tx, trailScope, actors)),
    abandoned: (await leavesOfPackage(tx, orgId, id)).filter(({ published_at }) => published_at === null),
    earlier: await readEarlier(tx, orgId, itemId, sequence),
  };
}

async function readFindings(tx: TenantTx, orgId: string, itemId: string, context: Omit<FindingContext, 'workItems'>): Promise<FindingFacts[]> {
  const workItems = await readWorkItemsEver(tx, orgId, itemId);
  const findings: FindingFacts[] = [];
  for await (const row of readWithCursor(tx, evidenceFindings(orgId, linkedFindingIds(orgId, itemId))))
    findings.push(buildFindingFacts(row, { ...context, workItems }));
  return findings;
}

/** The scans that findings refer to, all others since somebody first called one of them fixed, and all that failed. */
function scansToShow(findings: readonly FindingFacts[], about: readonly { id: string; created_at: Date; is_failed: boolean }[]): string[] {
  const claims = findings.flatMap(({ claimed_at, closed_at }) => claimed_at ?? closed_at ?? []).sort();
  const [first] = claims;
  const named = findings.flatMap(({ before, after, contradicted_by }) =>
    [before.scan, after.scan, ...after.others, contradicted_by].filter((scan) => scan !== null),
  );
  const isShown = ({ created_at, is_failed }: (typeof about)[number]): boolean => is_failed || (first !== undefined && created_at.toISOString() >= first);
  const others = about.filter(isShown).map(({ id }) => id);
  return [...new Set([...named, ...others])];
}
