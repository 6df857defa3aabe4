import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { can, outranks, permissionsOf, type Role, roles, rolesWith } from './permissions.ts';

const role = fc.constantFrom(...roles);
const includes = (one: Role, other: Role): boolean => !outranks(other, one);

describe('permissions', () => {
  it('grants each permission to exactly these roles', () => {
    const table = permissionsOf('owner').map((permission) => `${permission}: ${rolesWith(permission).join(', ')}`);
    expect(table.join('\n')).toMatchInlineSnapshot(`
      "organization:read: owner, admin, analyst, viewer, auditor
      organization:manage: owner
      members:read: owner, admin, analyst, viewer, auditor
      members:manage: owner, admin
      api_keys:read: owner, admin
      api_keys:manage: owner, admin
      audit:read: owner, admin, auditor
      events:read: owner, admin, analyst, viewer, auditor
      views:save: owner, admin, analyst, viewer, auditor
      views:share: owner, admin, analyst
      webhooks:read: owner, admin
      webhooks:manage: owner, admin
      assets:read: owner, admin, analyst, viewer, auditor
      assets:manage: owner, admin, analyst
      findings:read: owner, admin, analyst, viewer, auditor
      findings:triage: owner, admin, analyst
      imports:read: owner, admin, analyst, viewer, auditor
      imports:manage: owner, admin, analyst
      integrations:read: owner, admin, analyst, viewer, auditor
      integrations:sync: owner, admin, analyst
      integrations:manage: owner, admin
      work_items:read: owner, admin, analyst, viewer, auditor
      work_items:manage: owner, admin, analyst
      evidence:read: owner, admin, analyst, viewer, auditor
      evidence:manage: owner, admin, analyst"
    `);
  });

  it('agrees with itself in both directions', () => {
    for (const permission of permissionsOf('owner')) {
      for (const each of roles) {
        expect(can(each, permission)).toBe(rolesWith(permission).includes(each));
        expect(can(each, permission)).toBe(permissionsOf(each).includes(permission));
      }
    }
  });

  it('grants viewers and auditors only read permissions, and to save views for themselves', () => {
    for (const permission of permissionsOf('owner').filter((each) => !each.endsWith(':read') && each !== 'views:save')) {
      for (const reader of ['viewer', 'auditor'] as const) expect(can(reader, permission)).toBe(false);
    }
  });
});

describe('outranks', () => {
  it('ranks no role above itself', () => {
    fc.assert(fc.property(role, (one) => !outranks(one, one)));
  });

  it('ranks the owner above all other roles', () => {
    for (const other of roles.filter((each) => each !== 'owner')) {
      expect(outranks('owner', other)).toBe(true);
      expect(outranks(other, 'owner')).toBe(false);
    }
  });

  it('puts a role above every role whose permissions it exceeds, except analysts and auditors, who do different work', () => {
    const exceeds = (a: Role, b: Role) => a !== b && permissionsOf(b).every((permission) => can(a, permission));
    const unranked = roles.flatMap((a) => roles.filter((b) => exceeds(a, b) && !includes(a, b)).map((b) => `${a} over ${b}`));
    expect(unranked).toEqual(['auditor over viewer']);
  });

  it('is a partial order', () => {
    fc.assert(fc.property(role, role, role, (a, b, c) => !(includes(a, b) && includes(b, c)) || includes(a, c)));
    fc.assert(fc.property(role, role, (a, b) => !(includes(a, b) && includes(b, a)) || a === b));
  });

  it('is true if one role has a permission that the other lacks', () => {
    fc.assert(fc.property(role, role, (a, b) => outranks(a, b) || permissionsOf(a).every((permission) => can(b, permission))));
  });

  it('ranks viewer below analyst below admin, and auditor neither above nor below viewer and analyst', () => {
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
