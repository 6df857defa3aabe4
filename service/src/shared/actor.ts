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
