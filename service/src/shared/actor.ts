import type { Role } from './permissions.ts';

export interface Actor {
  orgId: string;
  /** `system` is the service itself: command line, schedules, first start. */
  type: 'api_key' | 'member' | 'oidc' | 'system';
  id: string | null;
  name: string;
  role: Role;
  /** The member who owns the credential, if any. Keys and sessions of a member end when the member is removed. */
  memberId: string | null;
  requestId: string | null;
  address: string | null;
}

export function systemActor(orgId: string, name: string): Actor {
  return { orgId, type: 'system', id: null, name, role: 'owner', memberId: null, requestId: null, address: null };
}

/** The identity behind a credential. */
export interface Principal {
  actor: Actor;
  organization: { id: string; slug: string; name: string };
  email: string | null;
  expiresAt: Date | null;
}
