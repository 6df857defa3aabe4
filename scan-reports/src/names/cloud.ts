import type { Asset } from '../contract.ts';

/** A resource as a report names it. */
interface CloudResource {
  provider: string | undefined;
  account?: string | undefined;
  region: string | undefined;
  id: string | undefined;
}

const ARN = /^arn:/i;
/** AWS Security Hub names an account this way. */
const ACCOUNT = /^AWS::::Account:\d+$/i;
const GLOBAL = /^(?:\/\/|\/subscriptions\/|https?:\/\/)/i;

/** ARNs and similar ids are globally unique. Other ids, names and labels such as "No trails" need account and region. */
export function cloudAsset({ provider, account, region, id }: CloudResource): Asset {
  const known = (name: string, kind: 'arn' | 'cloud_id'): Asset => ({ type: 'cloud_resource', name, identifiers: [{ kind, value: name }] });
  if (id && ARN.test(id)) return known(id, 'arn');
  if (id && (ACCOUNT.test(id) || GLOBAL.test(id))) return known(id, 'cloud_id');
  const parts = id ? [provider, account, region, id] : [provider, account];
  return { type: 'cloud_resource', name: parts.filter(Boolean).join('/') };
}

/** Stands for a whole account. The root user often does. */
const OF_ACCOUNT = /^(?:arn:[^:]*:(?:iam::\d*:root|account::\d*:account)|AWS::::Account:\d+)$/i;

/** The resource as a place. An account is checked in each region, and what is fine in one may not be in another. Other resources are in one region only. */
export function cloudPlace({ id, region }: Pick<CloudResource, 'id' | 'region'>): string | undefined {
  return id && region && OF_ACCOUNT.test(id) ? `${id} (${region})` : id;
}
