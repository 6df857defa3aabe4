import type { Role } from './permissions.ts';

/**
 * The human behind a credential. All sessions, API keys and SSO subjects of a member are one person, and a key counts as whoever created it. A
 * credential that no member stands behind is a person of its own. Four-eyes rules compare persons and nothing else.
 */
interface Person {
  id: string;
  /** The name at the time of the change, for people to read. */
  name: string;
}

/** A pipeline that an organization trusts, as its token identified it. What issuers call differently has one name. */
export interface PipelineIdentity {
  trust: {
    id: string;
    name: string;
    /** The only asset that the pipeline is about. */
    asset_id: string | null;
    settings_sha256: string;
  };
  issuer: string;
  subject: string;
  repository: string | null;
  repository_id: string | null;
  ref: string | null;
  /** Whether the issuer says that nobody can change the ref without review. */
  ref_protected: boolean;
  sha: string | null;
  environment: string | null;
  workflow: string | null;
  run_id: string | null;
  issued_at: string;
  /** SHA-256 of the token's id. The token itself is never stored. */
  token_sha256: string | null;
}

export interface Actor {
  orgId: string;
  /** `system` is the service itself: command line, schedules, first start. */
  type: 'api_key' | 'member' | 'oidc' | 'system';
  id: string | null;
  name: string;
  role: Role;
  /** The member who owns the credential, if any. Keys and sessions of a member end when the member is removed. */
  memberId: string | null;
  /** Null for the service itself and for connections, whose changes nobody can be held to. */
  person: Person | null;
  requestId: string | null;
  address: string | null;
  /** Set for a trusted pipeline, which can import reports and read, and nothing else. */
  pipeline?: PipelineIdentity;
}

export function systemActor(orgId: string, name: string): Actor {
  return { orgId, type: 'system', id: null, name, role: 'owner', memberId: null, person: null, requestId: null, address: null };
}

/** The identity behind a credential. */
export interface Principal {
  actor: Actor;
  organization: { id: string; slug: string; name: string };
  email: string | null;
  expiresAt: Date | null;
  /** Set if the member signed in with a password that somebody else chose. */
  passwordChosenBy?: string | null;
}
