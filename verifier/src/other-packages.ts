import type { Source } from './archive/source.ts';
import type { Platform } from './platform.ts';
import type { Previous } from './previous.ts';
import type { Report } from './report.ts';
import type { Trust } from './trust/trust.ts';
import { type VerifyOptions, verifyPackage, verifyPrevious } from './verify.ts';

/** Another package of the same work item, under the name by which the caller knows it. */
export interface OtherPackage {
  name: string;
  source: Source;
}

export interface Others {
  newer?: OtherPackage | undefined;
  previous?: OtherPackage | undefined;
}

/** Another package proves nothing about this one, although the caller expects it to. */
class UnusablePackage extends Error {}

interface Verification {
  trust: Trust;
  platform: Platform;
  options?: VerifyOptions;
}

/**
 * Verifies a package next to others of its work item, with the same keys: a newer one supersedes it, and it must still show everything that an earlier one
 * showed. Throws `UnusablePackage` if one of them cannot be used.
 */
export async function verifyWithOthers(
  source: Source,
  { newer, previous }: Others,
  { trust, platform, options = {} }: Verification,
): Promise<{ report: Report; isSuperseded: boolean }> {
  const { status: _, ...trustInOthers } = trust;
  const { onDocument: _own, ...limits } = options;
  const earlier = previous === undefined ? null : await readPrevious(previous, { trust: trustInOthers, platform, options: limits });
  const report = await verifyPackage(source, trust, platform, { ...options, ...(earlier && { previous: earlier }) });
  if (earlier !== null && previous !== undefined) requireEarlier(earlier, report, previous.name);
  if (newer !== undefined) {
    const later = await verifyPackage(newer.source, trustInOthers, platform, limits);
    if (!isLater(later, report, newer.name)) return { report, isSuperseded: false };
    report.notes.push(`The package is superseded by number ${later.package?.sequence} (${later.package?.id}).`);
  }
  const isSuperseded = newer !== undefined || report.status?.statement?.status === 'superseded';
  return { report, isSuperseded: isSuperseded && report.verdict === 'verified' };
}

async function readPrevious({ name, source }: OtherPackage, { trust, platform, options }: Verification): Promise<Previous> {
  const { report, previous } = await verifyPrevious(source, trust, platform, options);
  if (previous === null) throw unusable(name, 'earlier', `it is not verified with your keys (${report.verdict})`);
  return previous;
}

function requireEarlier(previous: Previous, { package: ours }: Report, name: string): void {
  if (ours === null) return;
  if (ours.work_item.id !== previous.workItemId || ours.organization.id !== previous.organizationId)
    throw unusable(name, 'earlier', 'it belongs to another work item or organization');
  if (previous.sequence >= ours.sequence) throw unusable(name, 'earlier', `its number is ${previous.sequence}, not below ${ours.sequence}`);
}

function isLater(newer: Report, report: Report, name: string): boolean {
  if (newer.verdict !== 'verified') throw unusable(name, 'newer', `it is not verified with your keys (${newer.verdict})`);
  const [theirs, ours] = [newer.package, report.package];
  if (theirs === null || ours === null) return false;
  const isSameItem = theirs.work_item.id === ours.work_item.id && theirs.organization.id === ours.organization.id && theirs.log?.origin === ours.log?.origin;
  if (!isSameItem) throw unusable(name, 'newer', 'it belongs to another work item, organization or log');
  if (theirs.sequence <= ours.sequence) throw unusable(name, 'newer', `its number is ${theirs.sequence}, not above ${ours.sequence}`);
  return true;
}

function unusable(name: string, as: 'newer' | 'earlier', why: string): UnusablePackage {
  return new UnusablePackage(`${name} cannot be used as ${as === 'newer' ? 'a newer' : 'an earlier'} package: ${why}`);
}
