import { can, type Permission, type Role } from '../shared/permissions.ts';

/** An event tells what its object tells: who may not read the one must not hear of it through the other. */
const permissionFor = new Map<string, Permission>(
  Object.entries({
    artifact: 'evidence:read',
    asset: 'assets:read',
    connection: 'integrations:read',
    finding: 'findings:read',
    import: 'imports:read',
    member: 'members:read',
    organization: 'organization:read',
    package: 'evidence:read',
    sync: 'integrations:read',
    ticket: 'work_items:read',
    work_item: 'work_items:read',
    api_key: 'api_keys:read',
    webhook: 'webhooks:read',
  }),
);

/** What is not named here, like sessions, is for those who may read the audit trail. */
export function mayHear(role: Role, type: string): boolean {
  const [kind = ''] = type.split('.');
  return can(role, permissionFor.get(kind) ?? 'audit:read');
}
