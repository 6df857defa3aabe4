import { expect, it } from 'vitest';
import { invalidField } from './errors.ts';

it('the message about a wrong field names the field, unless its detail is a sentence of its own', () => {
  const field = { in: 'body', path: '/change/reason', code: 'required' } as const;
  expect(invalidField({ ...field, detail: 'is required: say why' }).message).toBe('`change.reason` is required: say why.');
  expect(invalidField({ ...field, detail: 'Set either `ids` or `filter`.' }).message).toBe('Set either `ids` or `filter`.');
});
