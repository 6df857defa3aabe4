import { createHash } from 'node:crypto';
import { withoutHidden } from '@rrs/evidence-format';
import type { JWTPayload } from 'jose';
import type { Database } from '../db/database.ts';
import type { Outbound } from '../net/request.ts';
import { readOrganizationRef } from '../organizations/organization.ts';
import type { PipelineIdentity, Principal } from '../shared/actor.ts';
import { isUuid } from '../shared/ids.ts';
import { outranks, type Role } from '../shared/permissions.ts';
import { type Conditions, meets } from './conditions.ts';
import { createIssuers, readUnverified } from './issuers.ts';

interface TrustRow {
  org_id: string;
  id: string;
  name: string;
  role: Role;
  asset_id: string | null;
  conditions: Conditions;
  version: number;
}

const TRUSTS = `
  select org_id, id, name, role, asset_id, conditions, version from pipeline_trusts where org_id = $1 and issuer = $2 order by created_at, id`;

const AUDIENCE = 'rrs:';

/** The audience of tokens for an organization. Threat: another organization that trusts the same repository must not be able to use them. */
export function audienceOf(orgId: string): string {
  return `${AUDIENCE}${orgId}`;
}

type Credential = { kind: 'token' | 'session'; token: string };
interface Caller {
  id: string;
  ip: string;
}

/**
 * Returns `undefined` if the credential is not a token of a pipeline, and `null` if it is one that is not trusted. Keys are read only from issuers that
 * the organization trusts. Trusts are looked up for each request, so that a change takes effect immediately on every replica.
 */
export function createPipelineAuthenticate({ db, outbound }: { db: Database; outbound: Outbound }) {
  const issuers = createIssuers(outbound);
  return async ({ kind, token }: Credential, caller: Caller): Promise<Principal | null | undefined> => {
    const claimed = kind === 'token' && token.startsWith('eyJ') ? readUnverified(token) : null;
    if (!claimed?.audience.startsWith(AUDIENCE)) return undefined;
    const orgId = claimed.audience.slice(AUDIENCE.length);
    if (!isUuid(orgId)) return null;
    const trusts = await db.systemQuery<TrustRow>('pipeline_trusts', TRUSTS, [orgId, claimed.issuer]);
    if (trusts.length === 0) return null;
    const claims = await issuers.verify(token, claimed);
    if (claims === null) return null;
    // The oldest of those with the highest role.
    const [trust] = trusts
      .filter(({ conditions }) => meets(conditions, claims))
      .sort((a, b) => Number(outranks(b.role, a.role)) - Number(outranks(a.role, b.role)));
    const organization = trust && (await readOrganizationRef(db, orgId));
    return organization ? principalOf(trust, organization, claims, caller) : null;
  };
}

function principalOf(trust: TrustRow, organization: Principal['organization'], claims: JWTPayload, caller: Caller): Principal {
  const pipeline = identityOf(trust, claims);
  return {
    actor: {
      orgId: trust.org_id,
      type: 'oidc',
      id: trust.id,
      name: withoutHidden([trust.name, pipeline.repository].filter(Boolean).join(': ').slice(0, 200)),
      role: trust.role,
      memberId: null,
      person: { id: `pipeline:${trust.id}`, name: trust.name },
      requestId: caller.id,
      address: caller.ip,
      pipeline,
    },
    organization,
    email: null,
    expiresAt: claims.exp === undefined ? null : new Date(claims.exp * 1000),
  };
}

const MOST_CHARACTERS = 500;

/** The claims that matter later, under one name for GitHub, GitLab and others. Never the token. */
function identityOf(trust: TrustRow, claims: JWTPayload): PipelineIdentity {
  const text = (...names: string[]): string | null => {
    const value = names.map((name) => claims[name]).find((one) => typeof one === 'string' || typeof one === 'number');
    return value === undefined ? null : String(value).slice(0, MOST_CHARACTERS);
  };
  const settings = JSON.stringify([claims.iss, Object.entries(trust.conditions).sort(([a], [b]) => (a < b ? -1 : 1)), trust.role, trust.asset_id]);
  return {
    trust: { id: trust.id, name: trust.name, asset_id: trust.asset_id, settings_sha256: createHash('sha256').update(settings).digest('hex') },
    issuer: String(claims.iss),
    subject: text('sub') ?? '',
    repository: text('repository', 'project_path'),
    repository_id: text('repository_id', 'project_id'),
    ref: text('ref'),
    ref_protected: String(claims.ref_protected) === 'true',
    sha: text('sha', 'ci_config_sha'),
    environment: text('environment'),
    workflow: text('job_workflow_ref', 'workflow_ref', 'ci_config_ref_uri'),
    run_id: text('run_id', 'pipeline_id'),
    issued_at: new Date((claims.iat ?? 0) * 1000).toISOString(),
    token_sha256: claims.jti === undefined ? null : createHash('sha256').update(claims.jti).digest('hex'),
  };
}
