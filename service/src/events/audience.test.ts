import { describe, expect, it } from 'vitest';
import { roles, rolesWith } from '../shared/permissions.ts';
import { mayReceive } from './audience.ts';

const receivedBy = (type: string) => roles.filter((role) => mayReceive(role, type));

describe('an event', () => {
  it.each(['finding.created', 'asset.updated', 'import.succeeded', 'work_item.updated', 'package.ready', 'artifact.added', 'member.added'])(
    '%s can be received with every role',
    (type) => {
      expect(receivedBy(type)).toEqual(roles);
    },
  );

  it('about keys and webhooks requires the permission to read them', () => {
    expect(receivedBy('api_key.created')).toEqual(rolesWith('api_keys:read'));
    expect(receivedBy('webhook.disabled')).toEqual(rolesWith('webhooks:read'));
  });

  it.each(['session.created', 'something.new', '__proto__', ''])('of the unlisted type %j requires the permission to read the audit trail', (type) => {
    expect(receivedBy(type)).toEqual(rolesWith('audit:read'));
  });
});
