import type { Static } from 'typebox';
import type { Principal } from '../shared/actor.ts';
import { permissionsOf } from '../shared/permissions.ts';
import type { Me } from './schemas.ts';

export function toMe({ actor, organization, email, expiresAt, passwordChosenBy = null }: Principal): Static<typeof Me> {
  return {
    type: actor.type as Static<typeof Me>['type'],
    id: actor.id,
    name: actor.name,
    person: actor.person,
    email,
    role: actor.role,
    permissions: [...permissionsOf(actor.role)],
    organization: { id: organization.id, slug: organization.slug, name: organization.name },
    must_change_password: passwordChosenBy !== null,
    expires_at: expiresAt?.toISOString() ?? null,
  };
}
