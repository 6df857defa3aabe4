/**
 * Permissions, each in one of the groups that roles are granted.
 *
 * - A new permission takes one row here.
 * - A new role takes an entry in `roles` and `roleDefinitions`, its name in `includes` of every role above it, and a migration of the check
 *   constraints on `members.role` and `api_keys.role`.
 */
const permissionGroups = {
  'organization:read': 'read',
  'organization:manage': 'own',
  'members:read': 'read',
  'members:manage': 'administer',
  'api_keys:read': 'administer',
  'api_keys:manage': 'administer',
  'audit:read': 'audit',
  'events:read': 'read',
  'views:save': 'read',
  'views:share': 'work',
  'webhooks:read': 'administer',
  'webhooks:manage': 'administer',
  'assets:read': 'read',
  'assets:manage': 'work',
  'findings:read': 'read',
  'findings:triage': 'work',
  'imports:read': 'read',
  'imports:manage': 'work',
  'integrations:read': 'read',
  'integrations:sync': 'work',
  'integrations:manage': 'administer',
  'work_items:read': 'read',
  'work_items:manage': 'work',
  'evidence:read': 'read',
  'evidence:manage': 'work',
} as const;

export type Permission = keyof typeof permissionGroups;
type Group = (typeof permissionGroups)[Permission];

/** All roles, the most powerful first. */
export const roles = ['owner', 'admin', 'analyst', 'viewer', 'auditor'] as const;
export type Role = (typeof roles)[number];

interface RoleDefinition {
  description: string;
  grants: readonly Group[];
  /** The roles that do not outrank this one. */
  includes: readonly Role[];
}

/**
 * `includes` is written down rather than derived from the permissions: the roles of keys and members are stored, and must not
 * start to outrank each other when a permission is added. Auditor is neither above nor below viewer and analyst.
 */
const roleDefinitions: Readonly<Record<Role, RoleDefinition>> = {
  owner: {
    description: 'can do everything, including changes to the organization',
    grants: ['read', 'work', 'audit', 'administer', 'own'],
    includes: ['admin', 'analyst', 'viewer', 'auditor'],
  },
  admin: {
    description: 'can do what an analyst can, manage members, API keys, webhooks and integrations, and read the audit trail',
    grants: ['read', 'work', 'audit', 'administer'],
    includes: ['analyst', 'viewer', 'auditor'],
  },
  analyst: {
    description: 'can do what a viewer can, import reports, triage findings, and manage assets, work items and evidence',
    grants: ['read', 'work'],
    includes: ['viewer'],
  },
  viewer: {
    description: 'can read everything except API keys, webhooks and the audit trail',
    grants: ['read'],
    includes: [],
  },
  auditor: {
    description: 'can read what a viewer can, and the audit trail',
    grants: ['read', 'audit'],
    includes: [],
  },
};

/** Who may call a route: everyone, everyone with a valid credential, or roles with a permission. */
export type Access = 'public' | 'authenticated' | Permission;

const permissions = Object.keys(permissionGroups) as readonly Permission[];

const rolePermissions = new Map<Role, readonly Permission[]>(
  roles.map((role) => [role, permissions.filter((permission) => roleDefinitions[role].grants.includes(permissionGroups[permission]))]),
);

export function permissionsOf(role: Role): readonly Permission[] {
  return rolePermissions.get(role) ?? [];
}

export function describeRole(role: Role): string {
  return roleDefinitions[role].description;
}

export function can(role: Role, permission: Permission): boolean {
  return permissionsOf(role).includes(permission);
}

/** Why a role may not do what the permission allows, or null if it may. */
export function permissionLacking(role: Role, permission: Permission): string | null {
  if (can(role, permission)) return null;
  return `This operation requires the permission "${permission}" (roles: ${rolesWith(permission).join(', ')}). Your role is ${role}.`;
}

export function rolesWith(permission: Permission): readonly Role[] {
  return roles.filter((role) => can(role, permission));
}

/** Whether `role` may, now or later, do something that `than` may not. */
export function outranks(role: Role, than: Role): boolean {
  return role !== than && !roleDefinitions[than].includes.includes(role);
}
