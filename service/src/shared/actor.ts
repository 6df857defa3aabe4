import type { Role } from './permissions.ts';

export interface Actor {
  orgId: string;
  /** `system` is the service itself: the command line, schedules, first start. */
  type: 'api_key' | 'member' | 'oidc' | 'system';
  id: string | null;
  name: string;
  role: Role;
  /** The member behind the credential, if there is one: keys and sessions die with their member. */
  memberId: string | null;
  requestId: string | null;
  address: string | null;
}

export function systemActor(orgId: string, name: string): Actor {
  return { orgId, type: 'system', id: null, name, role: 'owner', memberId: null, requestId: null, address: null };
}

/** Whom a credential stands for. */
export interface Principal {
  actor: Actor;
  organization: { id: string; slug: string; name: string };
  email: string | null;
  expiresAt: Date | null;
}
