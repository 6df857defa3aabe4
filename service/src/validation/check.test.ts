import { Type } from 'typebox';
import { expect, it } from 'vitest';
import { textCheck } from './check.ts';

const long = 'Words with two letters. All of them must occur in the title, the component or one of the many other fields that this sentence lists';
const check = textCheck(
  Type.Object({
    digest: Type.String({ description: 'SHA-256 in hexadecimal', pattern: '^[0-9a-f]{4}$' }),
    words: Type.Optional(Type.String({ description: long, pattern: '[a-z]{2}' })),
    version: Type.Optional(Type.String({ description: 'At least version 2.1.', pattern: '^2' })),
    code: Type.Optional(Type.String({ pattern: '^[a-z]$' })),
    name: Type.Optional(Type.String({ description: 'The name. Reports that use the old one are still recognized', pattern: '\\S' })),
    reason: Type.Optional(Type.String({ description: 'Why', pattern: '[\\p{L}\\p{N}\\p{P}\\p{S}]' })),
    about: Type.Optional(Type.Object({ words: Type.String({ description: long }) })),
  }),
  '',
);

it.each([
  [{ digest: 'x' }, 'must have the form: SHA-256 in hexadecimal'],
  [{ words: '%' }, 'must have the form: Words with two letters'],
  [{ version: '1' }, 'must have the form: At least version 2.1'],
  [{ code: '1' }, 'must have the form: ^[a-z]$'],
  [{ name: ' ' }, 'must have at least one visible character'],
  [{ reason: '\u200b' }, 'must have at least one visible character'],
  [{ about: {} }, 'is required (Words with two letters)'],
])('says in one short sentence what is wrong with %j', (given, detail) => {
  expect(check({ digest: 'abcd', ...given }).map((error) => error.detail)).toEqual([detail]);
});
