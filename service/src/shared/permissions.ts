/** Who may do what. */
export const roles = ['owner', 'admin', 'analyst', 'viewer', 'auditor'] as const;
export type Role = (typeof roles)[number];

const permissionRoles = {
  'organization:read': ['owner', 'admin', 'analyst', 'viewer', 'auditor'],
  'organization:manage': ['owner'],
  'members:read': ['owner', 'admin', 'analyst', 'viewer', 'auditor'],
  'members:manage': ['owner', 'admin'],
  'api_keys:read': ['owner', 'admin'],
  'api_keys:manage': ['owner', 'admin'],
  'audit:read': ['owner', 'admin', 'auditor'],
  'events:read': ['owner', 'admin', 'analyst', 'viewer', 'auditor'],
  'webhooks:read': ['owner', 'admin'],
  'webhooks:manage': ['owner', 'admin'],
  'assets:read': ['owner', 'admin', 'analyst', 'viewer', 'auditor'],
  'assets:manage': ['owner', 'admin', 'analyst'],
  'findings:read': ['owner', 'admin', 'analyst', 'viewer', 'auditor'],
  'findings:triage': ['owner', 'admin', 'analyst'],
  'imports:read': ['owner', 'admin', 'analyst', 'viewer', 'auditor'],
  'imports:manage': ['owner', 'admin', 'analyst'],
  'integrations:read': ['owner', 'admin', 'analyst', 'viewer', 'auditor'],
  'integrations:sync': ['owner', 'admin', 'analyst'],
  'integrations:manage': ['owner', 'admin'],
  'work_items:read': ['owner', 'admin', 'analyst', 'viewer', 'auditor'],
  'work_items:manage': ['owner', 'admin', 'analyst'],
  'evidence:read': ['owner', 'admin', 'analyst', 'viewer', 'auditor'],
  'evidence:manage': ['owner', 'admin', 'analyst'],
} as const satisfies Record<string, readonly Role[]>;

export type Permission = keyof typeof permissionRoles;

/** What a route declares: anyone at all, anyone signed in, or holders of a permission. */
export type Access = 'public' | 'authenticated' | Permission;

export function can(role: Role, permission: Permission): boolean {
  return (permissionRoles[permission] as readonly Role[]).includes(role);
}

export function rolesWith(permission: Permission): readonly Role[] {
  return permissionRoles[permission];
}

const rolePermissions: Readonly<Record<string, readonly Permission[]>> = Object.fromEntries(
  roles.map((role) => [role, (Object.keys(permissionRoles) as Permission[]).filter((permission) => can(role, permission))]),
);

export function permissionsOf(role: Role): readonly Permission[] {
  return rolePermissions[role] ?? [];
}

/**
 * Written down rather than derived from the permissions: the roles of keys and members are stored, and must not come to
 * outrank each other when a permission is added. The auditor stands beside viewer and analyst, not above or below them.
 */
const includedRoles: Readonly<Record<Role, readonly Role[]>> = {
  owner: ['admin', 'analyst', 'viewer', 'auditor'],
  admin: ['analyst', 'viewer', 'auditor'],
  analyst: ['viewer'],
  viewer: [],
  auditor: [],
};

/** Whether `role` may, now or later, do something that `than` may not. */
export function outranks(role: Role, than: Role): boolean {
  return role !== than && !includedRoles[than].includes(role);
}
