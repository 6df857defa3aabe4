import { LockIcon } from '@primer/octicons-react';
import { type Permission, useMe } from '../../api/session.ts';
import { term } from '../words.ts';

/** The roles that have a permission beyond reading, by what it manages. Everything that is not listed is for analysts too. */
const administered: Readonly<Partial<Record<Permission, string>>> = {
  'organization:manage': 'owner',
  'members:manage': 'admin or owner',
  'api_keys:manage': 'admin or owner',
  'webhooks:manage': 'admin or owner',
  'integrations:manage': 'admin or owner',
  'audit:read': 'auditor, admin or owner',
};

/** Says what a person may not do here, and who may. Nothing for those who may. */
export function ReadOnly({ permission, to }: { permission: Permission; to: string }) {
  const { permissions, role } = useMe();
  if (permissions.includes(permission)) return null;
  return (
    <p className="dim" role="note">
      <LockIcon size={14} aria-hidden /> Your role ({term(role).toLowerCase()}) can only read this. The role{' '}
      {administered[permission] ?? 'analyst, admin or owner'} can {to}.
    </p>
  );
}
