import type { Asset, Observation } from '../../contract.ts';
import { idsIn, observation, RecordError, required, severityOf } from '../../shared/normalize.ts';

/** A check of one resource, as all versions and output modes report it under different names. */
interface Check {
  place: string;
  id: string | undefined;
  title: string | undefined;
  /** What was found for this resource. */
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
  /** Among them commands and code, which are left out. */
  references: readonly (string | undefined)[];
  seen: Date | null;
  tags: readonly (string | undefined)[];
}

/**
 * MANUAL waits for somebody to look. Allowlisted failures are WARNING in version 2 and early 3, MUTED later, "Other" in the OCSF of version 3.
 * INFO is what version 2 and 3 say of resources that are not there or cannot be read: neither wrong nor right.
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
  const resource = check.resource ?? check.resourceName;
  return observation({
    place: check.place,
    tool: 'prowler',
    rule,
    // Made of provider, check, account, region and resource; anything else in this place was not made by Prowler.
    external_id: check.uid?.startsWith('prowler-') ? check.uid : undefined,
    title: check.title ?? rule,
    description: [check.message, check.description === check.title ? undefined : check.description, check.risk].filter(Boolean).join('\n\n'),
    solution: check.solution,
    severity: severityOf(check.severity),
    tool_severity: check.severity,
    vulnerability_ids: idsIn(rule),
    references: check.references.flatMap((reference) => reference?.match(/https?:\/\/[^\s|"<>]+/g) ?? []),
    asset: assetOf(check),
    // Version 2 named the resource only in its message.
    location: { resource, fingerprint: resource ? undefined : [check.region, check.message].filter(Boolean).join(' ') },
    suppressed: outcome === 'suppressed' || check.muted === true,
    last_seen: check.seen,
    tags: [...check.tags, status === 'MANUAL' ? 'manual' : undefined].flatMap((tag) => tag?.split(/[|,]/).map((word) => word.trim()) ?? []),
  });
}

/** An ARN or the like names a resource anywhere; other ids and names need their account and region. */
function assetOf({ provider, account, region, resource, resourceName }: Check): Asset | null {
  if (resource && /^(?:arn:|\/\/|\/subscriptions\/|https?:\/\/)/i.test(resource)) {
    return { type: 'cloud_resource', name: resource, identifiers: [{ kind: /^arn:/i.test(resource) ? 'arn' : 'cloud_id', value: resource }] };
  }
  // A pod's uid lasts as long as the pod.
  const own = provider === 'kubernetes' ? (resourceName ?? resource) : (resource ?? resourceName);
  if (!account && !own) return null;
  const parts = own ? [provider, account, region?.replace(/^namespace:\s*/, ''), own] : [provider, account];
  return { type: 'cloud_resource', name: parts.filter(Boolean).join('/') };
}
