/** Who may do what. A role has its own permissions and those of the roles it includes. */
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

export function permissionsOf(role: Role): Permission[] {
  return (Object.keys(permissionRoles) as Permission[]).filter((permission) => can(role, permission));
}

/** Whether everything `role` may do is also allowed to `than`; the audit trail sets auditor beside viewer, not above. */
export function outranks(role: Role, than: Role): boolean {
  return permissionsOf(role).some((permission) => !can(than, permission));
}
