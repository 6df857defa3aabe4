import { can, type Permission, type Role } from '../shared/permissions.ts';

/** An event contains data of its subject, so receiving it requires the permission to read the subject. */
const permissionFor = new Map<string, Permission>(
  Object.entries({
    alias: 'findings:read',
    artifact: 'evidence:read',
    asset: 'assets:read',
    connection: 'integrations:read',
    finding: 'findings:read',
    import: 'imports:read',
    member: 'members:read',
    organization: 'organization:read',
    package: 'evidence:read',
    source: 'findings:read',
    sync: 'integrations:read',
    ticket: 'work_items:read',
    work_item: 'work_items:read',
    api_key: 'api_keys:read',
    pipeline_trust: 'api_keys:read',
    webhook: 'webhooks:read',
  }),
);

/** Kinds without an own permission, such as sessions, require the permission to read the audit trail. */
export function mayReceive(role: Role, type: string): boolean {
  const [kind = ''] = type.split('.');
  return can(role, permissionFor.get(kind) ?? 'audit:read');
}
