import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { AppError } from '../../shared/errors.ts';

interface LinkUse {
  orgId: string;
  linkId: string;
  format: string;
  /** Null if the address of the recipient is unknown. */
  address: string | null;
  /** Whether a range of the file is sent instead of all of it. */
  partial: boolean;
}

/** `continued` parts belong to a download that was counted before. */
export type CountedAs = 'whole' | 'part' | 'continued';

/**
 * Counts a download against the limit of its link. A range belongs to a download of the same file that the same address started with this link
 * within the last hour, and is not counted again: programs download large files in ranges and resume after an interruption.
 * The lock on the link makes requests at the same time wait for each other, so that only one of them gets the last download.
 */
export async function countDownload(tx: TenantTx, { orgId, linkId, format, address, partial }: LinkUse): Promise<CountedAs> {
  const { downloads, max_downloads } = await tx
    .selectFrom('share_links')
    .select(['downloads', 'max_downloads'])
    .where('org_id', '=', orgId)
    .where('id', '=', linkId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  if (partial && (await wasStarted(tx, { orgId, linkId, format, address }))) return 'continued';
  if (max_downloads !== null && downloads >= max_downloads) {
    const limit = max_downloads === 1 ? 'one download' : `${max_downloads} downloads`;
    throw new AppError('gone', `This share link allows ${limit}, and no download is left. Ask the sender for a new link.`);
  }
  await tx
    .updateTable('share_links')
    .set({ downloads: downloads + 1, last_download_at: sql<Date>`now()` })
    .where('org_id', '=', orgId)
    .where('id', '=', linkId)
    .execute();
  return partial ? 'part' : 'whole';
}

async function wasStarted(tx: TenantTx, { orgId, linkId, format, address }: Omit<LinkUse, 'partial'>): Promise<boolean> {
  if (address === null) return false;
  const found = await tx
    .selectFrom('package_receipts')
    .select('id')
    .where('org_id', '=', orgId)
    .where('share_link_id', '=', linkId)
    .where('format', '=', format)
    .where('address', '=', address)
    .where('outcome', 'in', ['whole', 'part'])
    .where('occurred_at', '>', sql<Date>`now() - interval '1 hour'`)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
