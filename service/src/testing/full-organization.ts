import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { mergeAssets } from '../assets/merging/merge-assets.ts';
import { mergeTrack } from '../assets/merging/merge-track.ts';
import type { BlobStore } from '../blobs/blobs.ts';
import type { Database, TenantTx } from '../db/database.ts';
import { createSecretBox } from '../events/webhooks/secrets.ts';
import { createWebhook } from '../events/webhooks/webhooks.ts';
import { addArtifact, recordSealedArtifacts, removeArtifact } from '../evidence/artifacts/artifacts.ts';
import { appendLeaf, publishLeaf, recordCheckpoint } from '../evidence/log/transparency-log.ts';
import { computeState } from '../evidence/preview/compute.ts';
import { stateFingerprint } from '../evidence/preview/fingerprint.ts';
import { recordReceipt } from '../evidence/sharing/receipts.ts';
import { followAsset } from '../findings/identity-changes/follow-asset.ts';
import { createFinding, type NewFinding } from '../findings/triage/create.ts';
import { updateFinding } from '../findings/triage/triage.ts';
import { declareJob, enqueue } from '../jobs/jobs.ts';
import { type Actor, systemActor } from '../shared/actor.ts';
import { newId } from '../shared/ids.ts';
import { decideOnItem } from '../work-items/approvals/approvals.ts';
import type { ItemStates } from '../work-items/approvals/state.ts';
import { createWorkItem } from '../work-items/items/create.ts';
import { followFindings } from '../work-items/items/follow-findings.ts';
import { startLog } from './evidence/evidence.ts';
import { sharePackage, storePackage } from './evidence/stored-package.ts';

export const AWKWARD = 'tab\t newline\n return\r\n backslash \\ \\N \\. quote " \' comma , \u2028 \u0001\u0002 Ελλάδα 日本 👩‍🚀 ';
export const ARCHIVE = `archive ${AWKWARD}`;
export const greet = declareJob<{ text: string }>('greet', { maxAttempts: 7 });

interface Store {
  db: Database;
  blobs: BlobStore;
}

/** Adds an organization with a row in every table and with text that is difficult to encode. */
export async function addFullOrganization({ db, blobs }: Store, orgId: string, slug: string): Promise<void> {
  await db.withSystem((tx) => tx.insertInto('organizations').values({ id: orgId, slug, name: AWKWARD }).execute());
  await db.withTenant({ orgId }, async (tx) => {
    const member = { org_id: orgId, id: newId(), email: `first@${slug}.example`, name: AWKWARD, role: 'owner' as const, password_hash: '' };
    await tx
      .insertInto('members')
      .values([member, { ...member, id: newId(), email: `second@${slug}.example`, password_hash: null }])
      .execute();
    await tx
      .insertInto('sessions')
      .values({ org_id: orgId, id: newId(), member_id: member.id, token_hash: randomBytes(32), method: 'oidc', user_agent: AWKWARD, expires_at: new Date() })
      .execute();
    await tx
      .insertInto('invitations')
      .values({
        org_id: orgId,
        id: newId(),
        member_id: member.id,
        token_hash: randomBytes(32),
        created_by: AWKWARD,
        creator_member_id: member.id,
        expires_at: new Date(),
      })
      .execute();
    await tx.insertInto('sso_subjects').values({ org_id: orgId, issuer: 'https://login.example.com', subject: AWKWARD, member_id: member.id }).execute();
    await tx
      .insertInto('saved_views')
      .values({ org_id: orgId, id: newId(), list: 'findings', name: 'Fix first', query: 'kev=true', created_by: AWKWARD })
      .execute();
    await tx
      .insertInto('comments')
      .values({ org_id: orgId, id: newId(), object_type: 'finding', object_id: newId(), text: AWKWARD, author: AWKWARD })
      .execute();
    await tx
      .insertInto('pipeline_trusts')
      .values({
        org_id: orgId,
        id: newId(),
        name: AWKWARD,
        issuer: 'https://ci.example.com',
        conditions: JSON.stringify({ repository: AWKWARD }),
        role: 'analyst',
        created_by: AWKWARD,
      })
      .execute();
    await tx
      .insertInto('preferences')
      .values({ org_id: orgId, person: member.id, value: JSON.stringify({ text: AWKWARD }) })
      .execute();
    await tx
      .insertInto('events')
      .values({ org_id: orgId, id: newId(), type: 'finding.created', subject: '', data: JSON.stringify({ text: AWKWARD, deep: [null, 1.5, {}] }) })
      .execute();
    await tx
      .insertInto('idempotency_keys')
      .values([
        { org_id: orgId, key_hash: randomBytes(32), request_hash: Buffer.alloc(0), response: null },
        { org_id: orgId, key_hash: randomBytes(32), request_hash: randomBytes(32), response: Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)) },
      ])
      .execute();
    await enqueue(tx, greet, { text: `${slug} ${AWKWARD}` }, { key: `greet ${slug}` });
    await enqueue(tx, greet, { text: 'later' }, { runAt: new Date('2199-01-02T03:04:05.678Z') });
  });
  await addWebhook(db, systemActor(orgId, AWKWARD));
  await addConnection(db, orgId);
  await addKey(db, orgId);
  await addFinding(db, systemActor(orgId, AWKWARD));
  await addEvidence({ db, blobs }, systemActor(orgId, AWKWARD));
}

async function addConnection(db: Database, org_id: string): Promise<void> {
  const [id, run_id, item] = [newId(), newId(), newId()];
  await db.withTenant({ orgId: org_id }, async (tx) => {
    await tx
      .insertInto('connections')
      .values({
        org_id,
        id,
        provider: 'snyk',
        kind: 'scanner',
        name: AWKWARD,
        config: '{}',
        credentials: randomBytes(60),
        credentials_key: AWKWARD,
        created_by: AWKWARD,
      })
      .execute();
    await tx
      .insertInto('sync_runs')
      .values({
        org_id,
        id: run_id,
        connection_id: id,
        trigger: 'manual',
        mode: 'full',
        checkpoint: JSON.stringify(AWKWARD),
        requested_by: AWKWARD,
        actor: '{}',
      })
      .execute();
    await tx
      .insertInto('sync_run_batches')
      .values({ org_id, run_id, n: 0, content: randomBytes(100) })
      .execute();
    await tx.insertInto('work_items').values({ org_id, id: item, title: AWKWARD, created_by_name: AWKWARD }).execute();
    await tx.insertInto('tickets').values({ org_id, id: newId(), work_item_id: item, connection_id: id, marker: AWKWARD, created_by: AWKWARD }).execute();
    await tx.insertInto('ticket_polls').values({ org_id, connection_id: id }).execute();
    const artifact = { org_id, id: newId(), work_item_id: item, type: 'other', title: AWKWARD, url: AWKWARD, added_by: '{}' } as const;
    await tx.insertInto('artifacts').values(artifact).execute();
    const original = { artifact_id: artifact.id, link_id: artifact.id, sha256: '0'.repeat(64), captured_at: new Date() };
    await tx
      .insertInto('artifact_captures')
      .values({ org_id, connection_id: id, provider: 'jira', url: AWKWARD, ...original })
      .execute();
  });
}

const box = createSecretBox(Buffer.alloc(32));

async function addWebhook(db: Database, actor: Actor): Promise<void> {
  const { webhook } = await db.withTenant(actor, (tx) =>
    createWebhook(tx, actor, { box, outbound: { refusal: () => null } }, { url: 'https://example.com/', event_types: ['*'], description: AWKWARD }),
  );
  const row = { org_id: actor.orgId, id: newId(), webhook_id: webhook.id, event_id: newId(), event_type: AWKWARD, response_excerpt: AWKWARD, error: AWKWARD };
  await db.withTenant(actor, (tx) => tx.insertInto('webhook_deliveries').values(row).execute());
}

async function addEvidence({ db, blobs }: Store, actor: Actor): Promise<void> {
  const { orgId } = actor;
  const item = newId();
  await db.withTenant(actor, async (tx) => {
    await tx.insertInto('work_items').values({ org_id: orgId, id: item, title: AWKWARD, created_by_name: AWKWARD }).execute();
    const fields = { type: 'other', title: AWKWARD, description: AWKWARD, occurred_at: null } as const;
    const first = await addArtifact(tx, actor, item, { ...fields, supersedes: null, content: { url: 'https://example.com', redactions: [] } });
    const file = { sha256: createHash('sha256').update(AWKWARD).digest('hex'), size: AWKWARD.length, media_type: 'text/plain', filename: AWKWARD } as const;
    const second = await addArtifact(tx, actor, item, { ...fields, supersedes: first.id, content: file });
    await removeArtifact(tx, actor, first.id, AWKWARD);
    await recordSealedArtifacts(tx, orgId, newId(), [second.id]);
    const log = await startLog(tx, orgId);
    const { index, size, root } = await appendLeaf(tx, log, { packageId: newId(), entry: AWKWARD });
    await publishLeaf(tx, log, index);
    await recordCheckpoint(tx, log, { size, root, note: AWKWARD, rekorNote: AWKWARD });
    const cosignature = { org_id: orgId, epoch: 1, size: String(size), witness: AWKWARD, line: AWKWARD, cosigned_at: new Date() };
    await tx.insertInto('log_cosignatures').values(cosignature).execute();
    await tx.insertInto('log_endings').values({ org_id: orgId, epoch: 1, reason: 'rewound' }).execute();
    await tx.insertInto('log_epochs').values({ org_id: orgId, epoch: 2, origin: 'test/orgs/epoch-2' }).execute();
  });
  await db.withSystem((tx) => tx.insertInto('key_successions').values({ id: newId(), envelope: AWKWARD }).execute());
  const sealed = await storePackage({ db, blobs }, { orgId, workItemId: item, content: ARCHIVE });
  const next = await storePackage({ db, blobs }, { orgId, workItemId: item, sequence: 2, content: ARCHIVE });
  const { id: shareLinkId } = await sharePackage({ db }, orgId, sealed);
  await db.withTenant(actor, async (tx) => {
    const later = { status: 'superseded', superseded_at: new Date(), superseded_by: next, superseded_reason: AWKWARD } as const;
    await tx.updateTable('evidence_packages').set(later).where('org_id', '=', orgId).where('id', '=', sealed).execute();
    await tx.insertInto('package_findings').values({ org_id: orgId, package_id: sealed, finding_id: newId(), state: AWKWARD }).execute();
    await recordReceipt(tx, actor, { packageId: sealed, kind: 'download', format: 'zip', outcome: 'whole', shareLinkId });
  });
}

async function addFinding(db: Database, actor: Actor): Promise<void> {
  const { orgId } = actor;
  const made = await db.withTenant(actor, async (tx) => {
    const { id } = await createFinding(
      tx,
      actor,
      {
        title: AWKWARD,
        severity: 'high',
        asset: { type: 'host', name: AWKWARD },
        description: AWKWARD,
        tags: [AWKWARD],
      },
      followFindings,
    );
    await updateFinding(tx, actor, { id, patch: { status: 'in_progress' }, check: () => {} }, followFindings);
    const decision = { kind: 'false_positive', state: 'void', person_name: AWKWARD, reason: AWKWARD } as const;
    await tx
      .insertInto('decisions')
      .values({ org_id: orgId, finding_id: id, id: newId(), ...decision, places: [AWKWARD], ended_at: new Date(), severity: 4, kev: false })
      .execute();
    const item = await createWorkItem(tx, actor, { title: AWKWARD, description: AWKWARD, assignee: AWKWARD, finding_ids: [id] });
    return { id, itemId: item.id };
  });
  await rejectItem(db, actor, made.itemId);
  await db.withTenant(actor, async (tx) => {
    const { id } = made;
    const importId = newId();
    const imported = { status: 'needs_confirmation', filename: AWKWARD, sha256: 'x', bytes: '1', created_by: AWKWARD, actor: '{}' } as const;
    await tx
      .insertInto('imports')
      .values({ org_id: orgId, id: importId, ...imported })
      .execute();
    await tx
      .insertInto('import_changes')
      .values({ org_id: orgId, import_id: importId, kind: 'updated', finding_ids: [id] })
      .execute();
    await tx
      .insertInto('import_closures')
      .values({ org_id: orgId, import_id: importId, finding_id: id, track: 0, absence: 'gone', absent_at: new Date() })
      .execute();
    await sql`
      insert into source_coverage (org_id, source_id, asset_id, import_id, seen_at)
      select org_id, unnest(source_ids), asset_id, ${importId}, now() from findings where org_id = ${orgId} and id = ${id}`.execute(tx);
    await tx.insertInto('vulnerability_aliases').values({ org_id: orgId, alias: AWKWARD, weakness: 'CVE-2021-44228', origin: 'knowledge' }).execute();
    await tx.insertInto('alias_claims').values({ org_id: orgId, alias: AWKWARD, weakness: 'CVE-2021-44228', provider: 'trivy' }).execute();
    const built = { ecosystem: 'deb', distro: AWKWARD, binary_package: 'libssl3', source_package: 'openssl', provider: 'trivy' };
    await tx
      .insertInto('source_packages')
      .values({ org_id: orgId, ...built, import_id: newId() })
      .execute();
    await addTracks(tx, orgId, id, importId);
    await addMerges(tx, actor);
  });
  await db.withSystem((tx) =>
    tx
      .insertInto('vulnerabilities')
      .values({ id: `CVE-2021-${orgId}`, aliases: [AWKWARD], epss: 0.1 })
      .execute(),
  );
}

async function rejectItem(db: Database, actor: Actor, id: string): Promise<void> {
  const state = await computeState(db, { actor, workItemId: id, seen: null });
  const states: ItemStates = { compute: async () => state, fingerprint: stateFingerprint };
  const body = { decision: 'rejected', comment: AWKWARD, state_digest: state.digest } as const;
  await db.withTenant(actor, (tx) => decideOnItem(tx, actor, { id, body, state, states }));
}

async function addTracks(tx: TenantTx, orgId: string, findingId: string, importId: string): Promise<void> {
  const finding = sql`from findings where org_id = ${orgId} and id = ${findingId}`;
  await sql`insert into asset_tracks (org_id, asset_id, n, name, kind, counts, ended_at, ended_by) select org_id, asset_id, 1, ${AWKWARD}, 'named', true, now(), ${AWKWARD} ${finding}`.execute(
    tx,
  );
  await sql`insert into asset_versions (org_id, asset_id, n, track, name, first_scan, last_scan) select org_id, asset_id, 1, 1, ${AWKWARD}, now(), now() ${finding}`.execute(
    tx,
  );
  await sql`
    insert into run_assets (org_id, source_id, asset_id, track, import_id, version_n, started_at, ended_at, complete, accepted)
    select org_id, source_ids[1], asset_id, 0, ${importId}, 1, now(), now(), true, true ${finding}`.execute(tx);
  await sql`insert into run_lists (org_id, import_id, kind, entries) select org_id, ${importId}, 'files', '{1,-2}' ${finding}`.execute(tx);
  await sql`
    insert into occurrences (org_id, finding_id, source_id, track, place, label, location, state, first_seen, last_seen)
    select org_id, id, source_ids[1], 0, '\\x00ff', ${AWKWARD}, jsonb_build_object('path', ${AWKWARD}::text), 'present', now(), now() ${finding}`.execute(tx);
}

/** Two assets that were merged, and so were their findings, and two tracks that were merged. */
async function addMerges(tx: TenantTx, actor: Actor): Promise<void> {
  const assetFollower = followAsset(followFindings);
  const vulnerable = (name: string): NewFinding => ({ title: name, severity: 'low', cves: ['CVE-2024-1234'], asset: { type: 'other', name } });
  const [one, other] = [await createFinding(tx, actor, vulnerable('one'), followFindings), await createFinding(tx, actor, vulnerable('other'), followFindings)];
  const { id: asset_id } = await mergeAssets(tx, actor, assetFollower, { id: one.asset_id, into: other.asset_id, reason: AWKWARD });
  const track = { org_id: actor.orgId, asset_id, kind: 'named', counts: true } as const;
  const tracks = [
    { ...track, n: 1, name: 'prod' },
    { ...track, n: 2, name: 'live' },
  ];
  await tx.insertInto('asset_tracks').values(tracks).execute();
  await mergeTrack(tx, actor, assetFollower, { assetId: asset_id, name: 'live', into: 'prod', reason: AWKWARD });
}

export async function addKey(db: Database, orgId: string): Promise<void> {
  const id = newId();
  await db.withTenant({ orgId }, async (tx) => {
    await tx
      .insertInto('api_keys')
      .values({ org_id: orgId, id, name: 'key', role: 'viewer', prefix: '', token_hash: randomBytes(32), created_by: 'test' })
      .execute();
    await tx
      .insertInto('audit_events')
      .values({ org_id: orgId, id: newId(), actor_type: 'system', actor_name: '', action: 'made', object_type: 'key', object_id: id })
      .execute();
  });
}
