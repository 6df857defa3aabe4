import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { can, outranks, type Permission, permissionsOf, type Role, roles, rolesWith } from './permissions.ts';

const role = fc.constantFrom(...roles);
const includes = (one: Role, other: Role): boolean => !outranks(other, one);

describe('the table of permissions', () => {
  it('gives each role what the design says', () => {
    const reading: Permission[] = [
      'organization:read',
      'members:read',
      'assets:read',
      'findings:read',
      'imports:read',
      'integrations:read',
      'work_items:read',
      'evidence:read',
      'events:read',
    ];
    const working: Permission[] = ['assets:manage', 'findings:triage', 'imports:manage', 'integrations:sync', 'work_items:manage', 'evidence:manage'];
    const managing: Permission[] = [
      'members:manage',
      'api_keys:read',
      'api_keys:manage',
      'audit:read',
      'webhooks:read',
      'webhooks:manage',
      'integrations:manage',
    ];
    const table: Record<Role, Permission[]> = {
      viewer: reading,
      analyst: [...reading, ...working],
      auditor: [...reading, 'audit:read'],
      admin: [...reading, ...working, ...managing],
      owner: [...reading, ...working, ...managing, 'organization:manage'],
    };
    for (const each of roles) expect(permissionsOf(each).toSorted()).toEqual(table[each].toSorted());
  });

  it('answers the same from either side', () => {
    for (const permission of permissionsOf('owner')) {
      for (const each of roles) {
        expect(can(each, permission)).toBe(rolesWith(permission).includes(each));
        expect(can(each, permission)).toBe(permissionsOf(each).includes(permission));
      }
    }
  });

  it('keeps everything that changes something from those who read', () => {
    for (const permission of permissionsOf('owner').filter((each) => !each.endsWith(':read'))) {
      for (const reader of ['viewer', 'auditor'] as const) expect(can(reader, permission)).toBe(false);
    }
  });
});

describe('outranks', () => {
  it('never sets a role above itself', () => {
    fc.assert(fc.property(role, (one) => !outranks(one, one)));
  });

  it('sets the owner above all others, and nobody above the owner', () => {
    for (const other of roles.filter((each) => each !== 'owner')) {
      expect(outranks('owner', other)).toBe(true);
      expect(outranks(other, 'owner')).toBe(false);
    }
  });

  it('is an order: what includes the including includes the included', () => {
    fc.assert(fc.property(role, role, role, (a, b, c) => !(includes(a, b) && includes(b, c)) || includes(a, c)));
    fc.assert(fc.property(role, role, (a, b) => !(includes(a, b) && includes(b, a)) || a === b));
  });

  it('never overlooks a permission that the one has and the other has not', () => {
    fc.assert(fc.property(role, role, (a, b) => outranks(a, b) || permissionsOf(a).every((permission) => can(b, permission))));
  });

  it('sets viewer below analyst below admin, and the auditor beside viewer and analyst', () => {
    expect(outranks('analyst', 'viewer')).toBe(true);
    expect(outranks('viewer', 'analyst')).toBe(false);
    expect(outranks('admin', 'analyst')).toBe(true);
    for (const other of ['viewer', 'analyst'] as const) {
      expect(outranks('auditor', other)).toBe(true);
      expect(outranks(other, 'auditor')).toBe(true);
    }
    expect(outranks('auditor', 'admin')).toBe(false);
  });
});
