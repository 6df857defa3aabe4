import { describe, expect, it } from 'vitest';
import { roles } from '../shared/permissions.ts';
import { mayHear } from './audience.ts';

const heardBy = (type: string) => roles.filter((role) => mayHear(role, type));

describe('an event', () => {
  it.each(['finding.created', 'asset.updated', 'import.succeeded', 'work_item.updated', 'package.ready', 'artifact.added', 'member.added'])(
    '%s is for all',
    (type) => {
      expect(heardBy(type)).toEqual(roles);
    },
  );

  it('of keys and webhooks is for those who may read these', () => {
    expect(heardBy('api_key.created')).toEqual(['owner', 'admin']);
    expect(heardBy('webhook.disabled')).toEqual(['owner', 'admin']);
  });

  it.each(['session.created', 'something.new', '__proto__', ''])('like %j, which says nothing of itself, is for those who may read the audit trail', (type) => {
    expect(heardBy(type)).toEqual(['owner', 'admin', 'auditor']);
  });
});
