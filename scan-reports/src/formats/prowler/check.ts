import type { Asset, Observation } from '../../contract.ts';
import { cloudAsset, cloudPlace } from '../../names/cloud.ts';
import { idsIn, observation, RecordError, required, severityOf } from '../../shared/normalize.ts';

/** A check of one resource. All versions and output modes report it, under different names. */
export interface Check {
  place: string;
  id: string | undefined;
  title: string | undefined;
  /** The result for this resource. */
  message: string | undefined;
  status: string | undefined;
  muted?: boolean;
  severity: string | undefined;
  uid?: string | undefined;
  provider: string | undefined;
  account: string | undefined;
  region: string | undefined;
  resource: string | undefined;
  resourceName?: string | undefined;
  description?: string | undefined;
  risk?: string | undefined;
  solution?: string | undefined;
  /** May contain commands and code, which are ignored. */
  references: readonly (string | undefined)[];
  seen: Date | null;
  tags: readonly (string | undefined)[];
  /** Version of Prowler. */
  version?: string | undefined;
}

/**
 * MANUAL needs a manual check. Allowlisted failures are WARNING in version 2 and early 3, MUTED later, and "Other" in OCSF of version 3.
 * INFO, in versions 2 and 3, marks resources that do not exist or cannot be read, which is neither a failure nor a pass.
 */
const OUTCOMES: Readonly<Record<string, 'found' | 'suppressed' | 'none'>> = {
  FAIL: 'found',
  FAILED: 'found',
  FAILURE: 'found',
  MANUAL: 'found',
  WARNING: 'suppressed',
  MUTED: 'suppressed',
  OTHER: 'suppressed',
  PASS: 'none',
  PASSED: 'none',
  SUCCESS: 'none',
  INFO: 'none',
  UNKNOWN: 'none',
};

export function checkObservation(check: Check): Observation | null {
  const status = required(check.status, 'the status').toUpperCase();
  const outcome = OUTCOMES[status];
  if (outcome === undefined) throw new RecordError(`the status "${status}" is unknown`);
  if (outcome === 'none') return null;
  const rule = required(check.id, 'the check id');
  const resource = resourceOf(check);
  return observation({
    place: check.place,
    tool: 'prowler',
    rule,
    // Consists of provider, check, account, region and resource. Without the prefix, the uid does not come from Prowler.
    external_id: check.uid?.startsWith('prowler-') ? check.uid : undefined,
    title: check.title ?? rule,
    description: [check.message, check.description === check.title ? undefined : check.description, check.risk].filter(Boolean).join('\n\n'),
    solution: check.solution,
    severity: severityOf(check.severity),
    tool_severity: check.severity,
    vulnerability_ids: idsIn(rule),
    references: check.references.flatMap((reference) => reference?.match(/https?:\/\/[^\s|"<>]+/g) ?? []),
    asset: assetOf(check),
    // Version 2 names the resource only in the message.
    location: { resource, fingerprint: resource ? undefined : [check.region, withoutTimes(check.message)].filter(Boolean).join(' ') },
    suppressed: outcome === 'suppressed' || check.muted === true,
    last_seen: check.seen,
    tags: [...check.tags, status === 'MANUAL' ? 'manual' : undefined].flatMap((tag) => tag?.split(/[|,]/).map((word) => word.trim()) ?? []),
  });
}

const TIME =
  /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?|(?<![\w.-])\d+(?=[ -](?:second|minute|hour|day|week|month|year)s?\b)/gi;

/** "Key of alice is older than 91 days" is the same finding a day later. Other numbers can be what tells one resource from another, such as a port. */
function withoutTimes(message: string | undefined): string | undefined {
  return message?.replace(TIME, '#');
}

/** Where the check was made, with the region if that is part of it. */
export function resourceOf({ resource, resourceName, region }: Check): string | undefined {
  return cloudPlace({ id: resource ?? resourceName, region });
}

/** True if the check failed or passed. The others could not be made. */
export function hasResult(check: Check): boolean {
  return hasPassed(check) || (OUTCOMES[check.status?.toUpperCase() ?? ''] ?? 'none') !== 'none';
}

/** True if the check passed, which proves that the resource was checked. */
export function hasPassed({ status }: Check): boolean {
  return /^(?:PASS|PASSED|SUCCESS)$/i.test(status ?? '');
}

export function assetOf({ provider, account, region, resource, resourceName }: Check): Asset | null {
  // In Kubernetes, the uid changes when a pod is replaced.
  const id = provider === 'kubernetes' ? (resourceName ?? resource) : (resource ?? resourceName);
  if (!account && !id) return null;
  return cloudAsset({ provider, account, region: region?.replace(/^namespace:\s*/, ''), id });
}
