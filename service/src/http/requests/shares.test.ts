import { expect, test } from 'vitest';
import { createShares } from './shares.ts';

const holder = (orgId: string, id: string) => ({ orgId, type: 'api_key' as const, id });

test('a credential and an organization each hold a limited number, and others are not affected', () => {
  const shares = createShares({ perOrganization: 3, perCredential: 2 });
  const first = shares.take(holder('a', 'one'));
  expect([first, shares.take(holder('a', 'one'))].every((release) => release !== null)).toBe(true);
  expect(shares.take(holder('a', 'one'))).toBeNull();
  expect(shares.take(holder('a', 'two'))).not.toBeNull();
  expect(shares.take(holder('a', 'two'))).toBeNull();
  expect(shares.take(holder('b', 'one'))).not.toBeNull();
  first?.();
  expect(shares.take(holder('a', 'two'))).not.toBeNull();
});

test('a share is given back once', () => {
  const shares = createShares({ perOrganization: 2, perCredential: 2 });
  const release = shares.take(holder('a', 'one'));
  expect(shares.take(holder('a', 'one'))).not.toBeNull();
  release?.();
  release?.();
  expect(shares.take(holder('a', 'one'))).not.toBeNull();
  expect(shares.take(holder('a', 'one'))).toBeNull();
  expect(() => shares.takeOrRefuse(holder('a', 'one'), 'exports')).toThrow(
    'Too many exports at once: at most 2 for each credential and 2 for your organization. Wait until one ends.',
  );
});
