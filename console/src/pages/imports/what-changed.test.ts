import { expect, it } from 'vitest';
import { whatChanged } from './what-changed.ts';

it('names the status and the fields that an import changed', () => {
  const version = { field: 'version', from: '1.0', to: null } as const;
  expect(whatChanged({ kind: 'reopened', from_status: 'verified', to_status: 'open', fields: [version] })).toBe('Verified → Open, Version: 1.0 → –');
});

it('says that something else changed if no field did', () => {
  const nothing = { from_status: null, to_status: null, fields: [] };
  expect(whatChanged({ ...nothing, kind: 'updated' })).toBe('Details or sources');
  expect(whatChanged({ ...nothing, kind: 'updated', from_status: 'open', to_status: 'open' })).toBe('Details or sources');
  expect(whatChanged({ ...nothing, kind: 'created' })).toBe('');
});
