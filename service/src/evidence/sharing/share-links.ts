import { type Selectable, sql } from 'kysely';
import type { Static } from 'typebox';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type Page, type PageRequest } from '../../db/pages.ts';
import type { DB } from '../../db/types.ts';
import { emit } from '../../events/emit.ts';
import type { EventType } from '../../events/types.ts';
import { hashToken, mintToken } from '../../organizations/api-keys/tokens.ts';
import { organizationNames } from '../../organizations/relations.ts';
import { type Actor, systemActor } from '../../shared/actor.ts';
import { invalidField, notFound } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { actorRef } from '../actor-ref.ts';
import type { PackageRow } from '../packages/packages.ts';
import { DEFAULT_HOURS, MAX_HOURS, type ShareLinkBody } from '../schemas-share-links.ts';

const columns = [
  'id',
  'package_id',
  'recipient',
  'created_by',
  'created_at',
  'expires_at',
  'revoked_at',
  'max_downloads',
  'downloads',
  'last_download_at',
] as const;
export type ShareLink = Pick<Selectable<DB['share_links']>, (typeof columns)[number]>;

type NewShareLink = Static<typeof ShareLinkBody>;

const HOUR_MS = 3_600_000;

/** Only the hash of the token is stored, so the token cannot be retrieved later. */
export async function createShareLink(tx: TenantTx, actor: Actor, packageId: string, input: NewShareLink): Promise<{ link: ShareLink; token: string }> {
  const { token, hash } = mintToken('shr', actor.orgId);
  const link = await tx
    .insertInto('share_links')
    .values({
      org_id: actor.orgId,
      id: newId(),
      package_id: packageId,
      token_hash: hash,
      recipient: input.recipient,
      created_by: JSON.stringify(actorRef(actor)),
      expires_at: expiryOf(input, Date.now()),
      max_downloads: input.max_downloads ?? null,
    })
    .returning(columns)
    .executeTakeFirstOrThrow();
  await auditAndEmit(tx, actor, 'package.shared', link);
  return { link, token };
}

function expiryOf({ expires_at, expires_in_hours }: NewShareLink, now: number): Date {
  const refuse = (code: string, detail: string) => invalidField({ in: 'body', path: '/expires_at', code, detail });
  if (expires_at === undefined) return new Date(now + (expires_in_hours ?? DEFAULT_HOURS) * HOUR_MS);
  if (expires_in_hours !== undefined) throw refuse('not_allowed', 'Send either "expires_at" or "expires_in_hours", not both.');
  const moment = new Date(expires_at);
  if (moment.getTime() <= now) throw refuse('in_the_past', 'must be in the future');
  if (moment.getTime() > now + MAX_HOURS * HOUR_MS) throw refuse('out_of_range', `must be at most ${MAX_HOURS} hours from now`);
  return moment;
}

export function listShareLinks(tx: TenantTx, orgId: string, packageId: string, page: PageRequest): Promise<Page<ShareLink>> {
  const query = tx.selectFrom('share_links').select(columns).where('org_id', '=', orgId).where('package_id', '=', packageId);
  return fetchPage(tx, query, { created_at: { column: 'created_at', type: 'timestamptz' } }, page);
}

/** Revoking a revoked link changes nothing. */
export async function revokeShareLink(tx: TenantTx, actor: Actor, packageId: string, id: string): Promise<void> {
  const known = tx.selectFrom('share_links').select('id').where('org_id', '=', actor.orgId).where('package_id', '=', packageId).where('id', '=', id);
  if (!(await known.executeTakeFirst())) throw notFound('share link', id);
  const revoked = await tx
    .updateTable('share_links')
    .set({ revoked_at: sql<Date>`now()` })
    .where('org_id', '=', actor.orgId)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning(columns)
    .executeTakeFirst();
  if (revoked) await auditAndEmit(tx, actor, 'package.share_revoked', revoked);
}

export interface SharedPackage {
  link: Pick<ShareLink, 'id' | 'recipient' | 'expires_at' | 'max_downloads' | 'downloads'>;
  organization: string;
  row: PackageRow;
}

/** Returns `null` for unknown, expired and revoked links. One statement covers all three, so that callers cannot tell them apart. */
export async function findSharedPackage(tx: TenantTx, orgId: string, token: string): Promise<SharedPackage | null> {
  const found = await tx
    .selectFrom('share_links as l')
    .innerJoin('evidence_packages as p', (join) => join.onRef('p.org_id', '=', 'l.org_id').onRef('p.id', '=', 'l.package_id'))
    .innerJoin(organizationNames.as('o'), 'o.id', 'l.org_id')
    .selectAll('p')
    .select(['l.id as link_id', 'l.recipient', 'l.expires_at', 'l.max_downloads', 'l.downloads', 'o.name as organization'])
    .where('l.org_id', '=', orgId)
    .where('l.token_hash', '=', hashToken(token))
    .where('l.revoked_at', 'is', null)
    .where('l.expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst();
  if (!found) return null;
  const { link_id, recipient, expires_at, max_downloads, downloads, organization, ...row } = found;
  return { link: { id: link_id, recipient, expires_at, max_downloads, downloads }, organization, row };
}

/** Null if the link has no limit. */
export function remainingDownloads({ max_downloads, downloads }: Pick<ShareLink, 'max_downloads' | 'downloads'>): number | null {
  return max_downloads === null ? null : max_downloads - downloads;
}

/** The recipient of a link has no account. Receipts name the recipient instead. */
export function recipientActor(orgId: string, recipient: string, { id, ip }: { id: string; ip: string }): Actor {
  return { ...systemActor(orgId, `auditor: ${recipient}`), role: 'auditor', requestId: id, address: ip };
}

async function auditAndEmit(tx: TenantTx, actor: Actor, action: EventType, { id, package_id, recipient, expires_at, max_downloads }: ShareLink): Promise<void> {
  const after = { share_link_id: id, recipient, expires_at, max_downloads };
  await recordAudit(tx, actor, { action, objectType: 'evidence_package', objectId: package_id, after });
  await emit(tx, actor.orgId, { type: action, subject: package_id, data: after });
}
